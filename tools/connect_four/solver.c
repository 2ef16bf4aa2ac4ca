/* Solves connect-four on 7 columns of 6: reads positions, one a line, as the columns played from 1 to 7, and writes for
 * each "columns value best nodes": the value for the side to move (1 win, 0 draw, -1 loss) and a column that keeps it.
 * With -m the values of all seven columns follow ("x" where one is full). The first argument, else 24, is the size of
 * the table as a power of two, in buckets of 16 bytes; what is known of one position helps with the next. With -s FILE
 * some of what the search finds on its way is added to the file, for `network.c`: the stones of the side to move, those
 * of both, and the lowest and highest value, as the table has them, each in eight bytes.
 *
 * Alpha-beta over wins, draws and losses alone.
 * Built with: gcc -O3 -march=native -o solver solver.c
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "board.h"

#define LOW (BOTTOM * 21)  /* rows 1, 3, 5 */
#define HIGH (BOTTOM * 42) /* rows 2, 4, 6 */
#define COLUMN(c) (63ULL << 7 * (c))
#define SYMMETRIC_PLIES 18 /* later hardly any two positions are reflections of each other */
#define LOOKING_PLIES 34   /* so late a search costs less than the look-ups of all its moves */

/* An entry is the position's number, 6 bits of the work it took, and 2 bits each for the lowest and highest value. */
typedef struct { uint64_t costly, latest; } bucket;

static bucket *table;
static int table_bits = 24;
static unsigned long long nodes;
static FILE *samples;
static const double KEPT[42] = {[12] = 1,    [13] = 1,   [14] = 1,    [15] = 0.8,  [16] = 0.4,
                                [17] = 0.2, [18] = 0.1, [19] = 0.06, [20] = 0.03, [21] = 0.015};
static const int ORDER[7] = {3, 2, 4, 1, 5, 0, 6};

/* The lines that `own` holds, as the places where they begin. */
static inline int count_lines(board own) {
    board across = own & own >> 7, down = own & own >> 6, up = own & own >> 8, upright = own & own >> 1;
    return __builtin_popcountll(across & across >> 14) + __builtin_popcountll(down & down >> 12) +
           __builtin_popcountll(up & up >> 16) + __builtin_popcountll(upright & upright >> 2);
}

static inline int has_line(board own) {
    board across = own & own >> 7, down = own & own >> 6, up = own & own >> 8, upright = own & own >> 1;
    return ((across & across >> 14) | (down & down >> 12) | (up & up >> 16) | (upright & upright >> 2)) != 0;
}

static inline uint64_t number_of(board own, board taken, int ply) {
    uint64_t number = own + taken + BOTTOM;
    if (ply >= SYMMETRIC_PLIES) return number;
    uint64_t turned = reflected(number);
    return turned < number ? turned : number;
}

static inline bucket *bucket_of(uint64_t number) {
    return &table[number * 0x9E3779B97F4A7C15ULL >> (64 - table_bits)];
}

static inline uint64_t look_up(uint64_t number) {
    bucket *b = bucket_of(number);
    return b->costly >> 15 == number ? b->costly : b->latest >> 15 == number ? b->latest : 0;
}

static inline int low_of(uint64_t entry) { return (int)(entry >> 2 & 3) - 1; }
static inline int high_of(uint64_t entry) { return (int)(entry & 3) - 1; }

/* The highest value that is left for `own`, who moves, without a search, and the lowest in `*low`.
 * With an even number of free cells the other side can answer above each stone until the board is full; what it gets
 * then is certain. With an odd number it can do so if it has a threat in an odd row, below which `own` must play last.
 */
static inline int bounds(board own, board other, board taken, board threats, int ply, int *low) {
    board free = CELLS ^ taken, raised = (taken + BOTTOM) & HIGH;
    int high = 1;
    if (ply % 2 == 0) {
        if (!has_line(own | (free & LOW) | raised)) {
            high = 0;
            if (has_line(other | (free & HIGH & ~raised))) return *low = -1;
        }
    } else {
        for (board rest = threats & LOW; rest; rest &= rest - 1) {
            board threat = rest & -rest, column = COLUMN(__builtin_ctzll(threat) / 7);
            board reached = (((free & LOW) | raised) & ~column) | (free & HIGH & column & (threat - 1));
            if (raised & column && !has_line(own | reached)) return *low = -1;
        }
        if (!has_line(own | free)) high = 0;
    }
    *low = has_line(other | free) ? -1 : 0;
    return high;
}

/* What a move promises: threats, and how the lines stand if both sides fill up their own rows. */
static inline int promise(board own, board other, board taken, board threats, int ply) {
    board free = CELLS ^ taken, raised = (taken + BOTTOM) & HIGH;
    int first = count_lines((ply % 2 ? other : own) | (free & LOW) | raised);
    int second = count_lines((ply % 2 ? own : other) | (free & HIGH));
    return 1000 * __builtin_popcountll(threats) + 100 * (ply % 2 ? second - first : first - second);
}

/* Write a position of a search to the file, at random, so that there are about as many of each ply. */
static void write_sample(board own, board taken, int ply, int low, int high) {
    static uint64_t state = 88172645463325252ULL;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    if ((double)(state >> 11) >= KEPT[ply] * (double)(1ULL << 53)) return;
    uint64_t sample[3] = {own, taken, (uint64_t)(low + 1) << 2 | (uint64_t)(high + 1)};
    fwrite(sample, sizeof *sample, 3, samples);
}

/* The value for `own`, who moves and cannot win at once, as far as it lies between alpha and beta. */
static int search(board own, board taken, int ply, int alpha, int beta) {
    nodes++;
    board other = own ^ taken, next = (taken + BOTTOM) & CELLS;
    board threats = completing(other, taken), forced = next & threats;
    if (forced & (forced - 1)) return -1;
    if (forced) next = forced;
    next &= ~(threats >> 1);
    if (!next) return -1;
    if (ply >= 40) return 0;
    int low, high = bounds(own, other, taken, threats, ply, &low);
    if (high <= alpha || low == high) return high;
    if (low >= beta) return low;
    uint64_t number = number_of(own, taken, ply), entry = look_up(number);
    if (entry) {
        if (low_of(entry) > low) low = low_of(entry);
        if (high_of(entry) < high) high = high_of(entry);
        if (high <= alpha || low == high) return high;
        if (low >= beta) return low;
    }
    if (low > alpha) alpha = low;
    if (high < beta) beta = high;

    unsigned long long before = nodes;
    board moves[7];
    uint64_t numbers[7];
    int promises[7], count = 0, best = -2;
    for (int i = 0; i < 7; i++) {
        board move = next & COLUMN(ORDER[i]);
        if (!move) continue;
        numbers[i] = number_of(other, taken | move, ply + 1);
        __builtin_prefetch(bucket_of(numbers[i]));
    }
    for (int i = 0; i < 7; i++) {
        board move = next & COLUMN(ORDER[i]), after = own | move, now = taken | move;
        if (!move) continue;
        board wins = completing(after, now), replies = (now + BOTTOM) & CELLS, stops = replies & wins;
        if (stops & (stops - 1)) return 1;
        if (!((stops ? stops : replies) & ~(wins >> 1))) return 1;
        int lowest, highest = bounds(other, after, now, wins, ply + 1, &lowest);
        if (-highest >= beta) return -highest;
        if (lowest == highest && -highest <= alpha) {
            if (-highest > best) best = -highest;
            continue;
        }
        if (ply < LOOKING_PLIES) {
            uint64_t known = look_up(numbers[i]);
            if (known && -high_of(known) >= beta) return -high_of(known);
        }
        int worth = promise(after, other, now, wins, ply), at = count++;
        for (; at && promises[at - 1] < worth; at--) {
            promises[at] = promises[at - 1];
            moves[at] = moves[at - 1];
        }
        promises[at] = worth;
        moves[at] = move;
    }
    int reached = alpha;
    for (int i = 0; i < count && best < beta; i++) {
        int value = -search(other, taken | moves[i], ply + 1, -beta, -reached);
        if (value > best) best = value;
        if (value > reached) reached = value;
    }
    if (best >= beta) low = best;
    else if (best > alpha) low = high = best;
    else if (best < high) high = best;
    if (samples) write_sample(own, taken, ply, low, high);
    int work = 64 - __builtin_clzll((nodes - before) | 1);
    entry = number << 15 | (uint64_t)work << 4 | (uint64_t)(low + 1) << 2 | (uint64_t)(high + 1);
    bucket *b = bucket_of(number);
    if (b->costly >> 15 == number || (int)(b->costly >> 4 & 63) <= work) b->costly = entry;
    else b->latest = entry;
    return best;
}

/* Whether playing `move` is worth at least `target`. */
static int reaches(board own, board taken, board move, int ply, int target) {
    board other = own ^ taken, now = taken | move;
    if (completing(own, taken) & move) return 1;
    if (now == CELLS) return target <= 0;
    if (completing(other, now) & (now + BOTTOM)) return 0;
    return -search(other, now, ply + 1, -target, 1 - target) >= target;
}

static int value_of(board own, board taken, int ply, int *best) {
    board next = (taken + BOTTOM) & CELLS;
    for (int target = 1; target >= -1; target--)
        for (int i = 0; i < 7; i++) {
            board move = next & COLUMN(ORDER[i]);
            if (!move || (target >= 0 && !reaches(own, taken, move, ply, target))) continue;
            *best = ORDER[i] + 1;
            return target;
        }
    *best = 0;
    return 0;
}

int main(int count, char **arguments) {
    char line[256];
    int every = 0;
    for (int i = 1; i < count; i++)
        if (!strcmp(arguments[i], "-m")) every = 1;
        else if (!strcmp(arguments[i], "-s") && i + 1 < count) samples = fopen(arguments[++i], "ab");
        else table_bits = atoi(arguments[i]);
    if (table_bits < 10 || table_bits > 34) return 2;
    size_t bytes = sizeof(bucket) << table_bits;
    table = aligned_alloc(1 << 21, bytes < 1 << 21 ? 1 << 21 : bytes);
    if (!table) return 1;
#ifdef __linux__
    madvise(table, bytes, MADV_HUGEPAGE);
#endif
    memset(table, 0, bytes);
    while (fgets(line, sizeof line, stdin)) {
        board own = 0, taken = 0;
        int ply = 0, best = 0;
        for (; line[ply] >= '1' && line[ply] <= '7'; ply++) {
            own ^= taken;
            taken |= (taken + (1ULL << 7 * (line[ply] - '1'))) & COLUMN(line[ply] - '1');
        }
        line[ply] = 0;
        nodes = 0;
        int value = value_of(own, taken, ply, &best);
        printf("%s %d %d %llu", line, value, best, nodes);
        for (int c = 0; every && c < 7; c++) {
            board move = (taken + BOTTOM) & COLUMN(c);
            if (!move) printf(" x");
            else printf(" %d", reaches(own, taken, move, ply, 1) ? 1 : reaches(own, taken, move, ply, 0) ? 0 : -1);
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
