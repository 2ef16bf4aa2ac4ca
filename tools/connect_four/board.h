/* The board of connect-four, 7 columns of 6: column c has the bits 7c to 7c + 6 from the bottom, the top one empty. */
#include <stdint.h>

typedef uint64_t board;

#define BOTTOM 0x40810204081ULL
#define CELLS (BOTTOM * 63)

/* The free cells that complete a line of `own`. */
static inline board completing(board own, board taken) {
    board found = own << 1 & own << 2 & own << 3;
    for (int step = 6; step <= 8; step++) {
        board pairs = own << step & own << 2 * step;
        found |= pairs & (own << 3 * step | own >> step);
        pairs = own >> step & own >> 2 * step;
        found |= pairs & (own << step | own >> 3 * step);
    }
    return found & (CELLS ^ taken);
}

/* The same with left and right changed over. */
static inline board reflected(board stones) {
    board found = 0;
    for (int c = 0; c < 7; c++) found |= (stones >> 7 * c & 127) << 7 * (6 - c);
    return found;
}
