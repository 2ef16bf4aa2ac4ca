/* Fits the network of connect-four, which tictactoe_engine/search/network.py describes: reads the samples that `solver -s`
 * writes (the files are the arguments), and writes what `python -m tools.connect_four.network` packs.
 *
 * One hidden layer. Its output is what the side that began may hope for, on a scale on which a win and at least a draw
 * are a logistic function away; a sample tells of one of the two or of both. AdaGrad, each weight with a rate of its own.
 * A sixteenth of the samples is kept apart to tell how well the rest was learned.
 * Built with: gcc -O3 -march=native -ffast-math -o network network.c -lm
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "board.h"

#define UNITS 192
#define ROWS (2 + 7 * 128 + 2 * 7 * 64)
#define STONES ROWS              /* a row for each cell and side that stands there */
#define FREE (STONES + 2 * 49)   /* one for each cell that completes a line, and side */
#define LEVELS (FREE + 2 * 49)   /* and one for all cells of a level, and side */
#define ALL_ROWS (LEVELS + 2 * 6)
#define EPOCHS 8
#define RATE 0.1f
#define SCALE 50 /* of the numbers that are written */

typedef struct { board own, taken; int8_t low, high, is_second, is_test; } sample;

static float rows[ALL_ROWS][UNITS], spent[ALL_ROWS][UNITS], output[UNITS], output_spent[UNITS];
static float constant[2], constant_spent[2] = {1, 1}, drawn[2] = {0.7f, 0.7f}, drawn_spent[2] = {1, 1};
static uint64_t state = 88172645463325252ULL;

static uint64_t random_number(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static int add_cells(board cells, int row, int level_row, int *found, int count) {
    for (; cells; cells &= cells - 1) {
        int cell = __builtin_ctzll(cells);
        found[count++] = row + cell;
        if (level_row) found[count++] = level_row + cell % 7;
    }
    return count;
}

/* The rows that a position adds up; returns how many. What is learned of single cells helps with columns that are rare;
 * in the end it is added to the rows of columns. */
static int rows_of(board own, board taken, int is_second, int *found) {
    int count = 0;
    board first = is_second ? own ^ taken : own, number = first + taken + BOTTOM;
    board for_first = completing(first, taken), for_second = completing(first ^ taken, taken);
    found[count++] = is_second;
    for (int c = 0; c < 7; c++) found[count++] = 2 + c * 128 + (int)(number >> 7 * c & 127);
    for (int c = 0; c < 7; c++) {
        int one = for_first >> 7 * c & 63, other = for_second >> 7 * c & 63;
        if (one) found[count++] = 2 + 896 + c * 64 + one;
        if (other) found[count++] = 2 + 896 + 448 + c * 64 + other;
    }
    count = add_cells(first, STONES, 0, found, count);
    count = add_cells(first ^ taken, STONES + 49, 0, found, count);
    count = add_cells(for_first, FREE, LEVELS, found, count);
    return add_cells(for_second, FREE + 49, LEVELS + 6, found, count);
}

static sample *read_samples(char **files, size_t *count) {
    size_t room = 1 << 20;
    sample *all = malloc(room * sizeof *all);
    for (*count = 0; *files; files++) {
        FILE *file = fopen(*files, "rb");
        uint64_t word[3];
        while (file && fread(word, sizeof *word, 3, file) == 3) {
            sample one = {word[0], word[1], (int)(word[2] >> 2 & 3) - 1, (int)(word[2] & 3) - 1, 0, 0};
            board next = (one.taken + BOTTOM) & CELLS;
            /* No search stops where a move is forced. */
            if ((one.low < 0 && one.high > 0) || next & completing(one.own ^ one.taken, one.taken)) continue;
            one.is_second = __builtin_popcountll(one.taken) & 1;
            one.is_test = ((one.own ^ one.taken << 9) * 0x9E3779B97F4A7C15ULL >> 40) % 16 == 0;
            if (*count == room) all = realloc(all, (room *= 2) * sizeof *all);
            all[(*count)++] = one;
        }
        if (file) fclose(file);
    }
    return all;
}

static float step(float slope, float *sum) {
    *sum += slope * slope;
    return slope / sqrtf(*sum);
}

/* Learns from a sample, or only tells how far off the network is where the rate is 0. */
static double learn(const sample *one, float rate) {
    int found[160], side = one->is_second, is_turned = rate > 0 && random_number() >> 63;
    int count = rows_of(is_turned ? reflected(one->own) : one->own, is_turned ? reflected(one->taken) : one->taken, side, found);
    float units[UNITS] = {0}, slopes[UNITS], score = constant[side];
    for (int i = 0; i < count; i++)
        for (int j = 0; j < UNITS; j++) units[j] += rows[found[i]][j];
    for (int j = 0; j < UNITS; j++) {
        units[j] = units[j] > 0 ? units[j] : 0;
        score += output[j] * units[j];
    }
    int low = side ? -one->high : one->low, high = side ? -one->low : one->high;
    float slope = 0, drawn_slope = 0;
    double loss = 0;
    for (int target = 0; target <= 1; target++) {
        if (low < target && high >= target) continue;
        float margin = target ? -drawn[side] : drawn[side], chance = 1 / (1 + expf(-score - margin));
        float off = chance - (low >= target);
        slope += off;
        drawn_slope += target ? -off : off;
        loss -= logf(fmaxf(low >= target ? chance : 1 - chance, 1e-7f));
    }
    if (rate == 0) return loss;
    constant[side] -= rate * step(slope, &constant_spent[side]);
    drawn[side] -= rate * step(drawn_slope, &drawn_spent[side]);
    for (int j = 0; j < UNITS; j++) {
        slopes[j] = units[j] > 0 ? slope * output[j] : 0;
        output[j] -= rate * step(slope * units[j], &output_spent[j]);
    }
    for (int i = 0; i < count; i++) {
        float *row = rows[found[i]], *sums = spent[found[i]];
        for (int j = 0; j < UNITS; j++) row[j] -= rate * step(slopes[j], &sums[j]);
    }
    return loss;
}

static void add_row(int row, int other) {
    for (int j = 0; j < UNITS; j++) rows[row][j] += rows[other][j];
}

/* Add the rows of single cells to those of columns. */
static void join_rows(void) {
    for (int c = 0; c < 7; c++) {
        for (int code = 1; code < 128; code++) {
            int height = 31 - __builtin_clz(code);
            for (int h = 0; h < height; h++) add_row(2 + c * 128 + code, STONES + (code >> h & 1 ? 0 : 49) + c * 7 + h);
        }
        for (int side = 0; side < 2; side++)
            for (int code = 1; code < 64; code++)
                for (int h = 0; h < 6; h++) {
                    if (!(code >> h & 1)) continue;
                    add_row(2 + 896 + side * 448 + c * 64 + code, FREE + side * 49 + c * 7 + h);
                    add_row(2 + 896 + side * 448 + c * 64 + code, LEVELS + side * 6 + h);
                }
    }
}

static void write_number(int number) {
    putchar(number & 255);
    putchar(number >> 8 & 255);
}

/* The weight of a unit's output is multiplied into its rows, so that only its sign is left. */
static void write_network(void) {
    int order[UNITS], firsts = 0, count = 0;
    for (int wanted = 1; wanted >= 0; wanted--) {
        for (int j = 0; j < UNITS; j++)
            if ((output[j] >= 0) == wanted) order[count++] = j;
        if (wanted) firsts = count;
    }
    write_number(UNITS);
    write_number(firsts);
    for (int side = 0; side < 2; side++) write_number((int)lrintf(constant[side] * SCALE));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < UNITS; j++) {
            long weight = lrintf(rows[i][order[j]] * fabsf(output[order[j]]) * SCALE);
            putchar((int)(weight > 127 ? 127 : weight < -127 ? -127 : weight) & 255);
        }
}

int main(int arguments, char **files) {
    size_t count;
    sample *all = read_samples(files + (arguments > 0), &count);
    if (!count) return 1;
    for (int i = 0; i < ALL_ROWS; i++)
        for (int j = 0; j < UNITS; j++) {
            rows[i][j] = i >= STONES && i < FREE ? (float)(random_number() >> 40) / (1 << 24) * 0.3f - 0.15f : 0;
            spent[i][j] = 1e-3f;
        }
    for (int j = 0; j < UNITS; j++) {
        output[j] = j < UNITS / 2 ? 0.3f : -0.3f;
        output_spent[j] = 0.1f;
    }
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        int left = EPOCHS - epoch;
        float rate = left >= 3 ? RATE : left == 2 ? RATE * 0.6f : left == 1 ? RATE * 0.3f : RATE * 0.1f;
        double learned = 0, tested = 0;
        size_t tests = 0;
        for (size_t i = count - 1; i > 0; i--) {
            size_t other = random_number() % (i + 1);
            sample one = all[i];
            all[i] = all[other];
            all[other] = one;
        }
        for (size_t i = 0; i < count; i++)
            if (!all[i].is_test) learned += learn(&all[i], rate);
        for (size_t i = 0; i < count; i++)
            if (all[i].is_test) tested += learn(&all[i], 0), tests++;
        fprintf(stderr, "%d: %.4f, of those kept apart %.4f\n", epoch, learned / (double)(count - tests), tested / (double)tests);
    }
    join_rows();
    write_network();
    return 0;
}
