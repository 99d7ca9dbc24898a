/* What branches backwards cost a warp: once, for the interpreter (quantum.c) and for compiled code
 * (jit/emit/branch.c).
 *
 * The rules are expressions, which each engine expands with operations X##_AND and so on of its
 * own. A warp knows of a spinning loop which lanes came to it or went back in it last (`spun`), and
 * whether lanes have left it since (`ahead`).
 */
#ifndef HEDDLE_EXEC_SPIN_COST_H
#define HEDDLE_EXEC_SPIN_COST_H

/* Branches backwards in a quantum, and what those of spinning loops cost. */
enum { BUDGET = 1 << 14, SPIN_COST = BUDGET / 64, SPIN_COST_DIVIDED = BUDGET, BACK_EDGE_COST = 1 };

/* Lanes of `mask` go back. Have some of those that spun left the loop, and have none joined? */
#define SPIN_SOME_LEFT(X, mask, spun) X##_AND(X##_IS_ZERO(X##_AND(mask, X##_NOT(spun))), X##_DIFFER(mask, spun))

/* What that costs: where some have left, what another loop's branch does. In the next iteration the
 * others have a turn, if there are `others` in the warp: what lanes went `ahead` for may be what
 * the others wait for. Else it costs `alone`, which grows with the quanta in vain. */
#define SPIN_BACK_COST(X, some_left, ahead, others, alone)                                                             \
    X##_SELECT(some_left, X##_CONST(BACK_EDGE_COST),                                                                   \
               X##_SELECT(X##_OR(X##_IS_ZERO(ahead), X##_IS_ZERO(others)), alone, X##_CONST(SPIN_COST_DIVIDED)))

#endif
