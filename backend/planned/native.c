/* Makes the calls of a plan one after the other, without Python between them.
 *
 * A plan is a table that backend/planned/native.py writes. It points to chunks of parts, and these
 * to operators; a part may come up many times. Nothing is allocated, and nothing is checked: the
 * writer has done that. Whoever calls this through ctypes holds no Python lock meanwhile, so that
 * two lanes of a plan run side by side however short their operators are.
 */

#include <stdint.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

enum { DIMS = 4, OPERANDS = 4 };

/* The order is that of `Kind` in operation.py. */
enum kind { GEMM, FILL, COPY, RELU, LEAKY, CLAMP, ADD, SUB, MUL, MINIMUM, MAXIMUM, LERP, ADDCMUL };

typedef struct {
    int32_t kind;
    int32_t in_arena;                  /* bit i: operand i's place counts from the arena's start */
    int64_t size[DIMS];                /* of all operands; for GEMM m, n, k */
    int64_t place[OPERANDS];           /* bytes; operand 0 is the output */
    int64_t stride[OPERANDS][DIMS];    /* floats; for GEMM the leading dimension, and 1 if transposed */
    float first, second;               /* numbers; for GEMM first is beta */
} Operator;

typedef struct {
    const Operator *operators;
    int64_t count;
} Part;

typedef struct {
    const Part *parts;
    int64_t count;
} Chunk;

typedef void Gemm(const char *, const char *, const int32_t *, const int32_t *, const int32_t *,
                  const float *, const float *, const int32_t *, const float *, const int32_t *,
                  const float *, float *, const int32_t *);

typedef struct {
    char *const *arena;                /* where the arena's start is written: it moves as it grows */
    Gemm *gemm;                        /* BLAS: columns first, all by reference */
    int (*threads)(int);               /* of the product in this thread; its last; may be missing */
    int64_t count;
    Chunk chunks[];
} Table;

static float *at(const Operator *op, int operand, char *arena)
{
    intptr_t base = op->in_arena >> operand & 1 ? (intptr_t)arena : 0;
    return (float *)(base + op->place[operand]);
}

/* Rows first: c = a b + beta c. In BLAS's order of columns first the same memory is c' = b' a'. */
static void gemm(const Operator *op, char *arena, Gemm *blas)
{
    const float one = 1;
    int32_t m = op->size[0], n = op->size[1], k = op->size[2];
    int32_t ldc = op->stride[0][0], lda = op->stride[1][0], ldb = op->stride[2][0];
    blas(op->stride[2][1] ? "T" : "N", op->stride[1][1] ? "T" : "N", &n, &m, &k, &one,
         at(op, 2, arena), &ldb, at(op, 1, arena), &lda, &op->first, at(op, 0, arena), &ldc);
}

/* One line; an output may be one of its inputs. The usual strides have loops of their own. */
#define LINE(value)                                                                     \
    if (so == 1 && sa == 1 && sb == 1 && sc == 1) {                                     \
        LOOP(value, 1, 1, 1, 1)                                                         \
    } else if (so == 1 && sa == 1 && sb == 1 && sc == 0) {                              \
        LOOP(value, 1, 1, 1, 0)                                                         \
    } else if (so == 1 && sa == 1 && sb == 0 && sc == 0) {                              \
        LOOP(value, 1, 1, 0, 0)                                                         \
    } else {                                                                            \
        LOOP(value, so, sa, sb, sc)                                                     \
    }                                                                                   \
    break
#define LOOP(value, so, sa, sb, sc)                                                     \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) {                              \
        const float x = a[i * (sa)], y = b[i * (sb)], z = c[i * (sc)];                  \
        (void)x, (void)y, (void)z;                                                      \
        o[i * (so)] = value;                                                            \
    }

FOR_EACH_PROCESSOR
static void line(const Operator *op, int64_t n, float *o, const float *a, const float *b,
                 const float *c)
{
    const int last = DIMS - 1;
    const int64_t so = op->stride[0][last], sa = op->stride[1][last];
    const int64_t sb = op->stride[2][last], sc = op->stride[3][last];
    const float p = op->first, q = op->second;
    /* Comparisons are written so that not-a-number stays what it is, as with torch. */
    switch (op->kind) {
    case FILL: LINE(p);
    case COPY: LINE(x);
    case RELU: LINE(x < 0 ? 0 : x);
    case LEAKY: LINE(x < 0 ? x * p : x);
    case CLAMP: LINE(x < p ? p : x > q ? q : x);
    case ADD: LINE(x + y);
    case SUB: LINE(x - y);
    case MUL: LINE(x * y);
    case MINIMUM: LINE(x < y || x != x ? x : y);
    case MAXIMUM: LINE(x > y || x != x ? x : y);
    case LERP: LINE(p < 0.5f ? x + p * (y - x) : y - (y - x) * (1 - p));
    case ADDCMUL: LINE(x + y * z);
    }
}

static void each_line(const Operator *op, char *arena)
{
    float *start[OPERANDS];
    for (int operand = 0; operand < OPERANDS; operand++)
        start[operand] = at(op, operand, arena);
    for (int64_t i = 0; i < op->size[0]; i++)
        for (int64_t j = 0; j < op->size[1]; j++)
            for (int64_t k = 0; k < op->size[2]; k++) {
                float *from[OPERANDS];
                for (int operand = 0; operand < OPERANDS; operand++) {
                    const int64_t *stride = op->stride[operand];
                    from[operand] = start[operand] + i * stride[0] + j * stride[1] + k * stride[2];
                }
                line(op, op->size[3], from[0], from[1], from[2], from[3]);
            }
}

static void run_part(const Part *part, char *arena, Gemm *blas)
{
    const Operator *end = part->operators + part->count;
    for (const Operator *op = part->operators; op < end; op++)
        if (op->kind == GEMM)
            gemm(op, arena, blas);
        else
            each_line(op, arena);
}

void steadyframe_run(const Table *table)
{
    char *arena = *table->arena;
    const int threads = table->threads ? table->threads(1) : 0;
    for (const Chunk *chunk = table->chunks; chunk < table->chunks + table->count; chunk++)
        for (const Part *part = chunk->parts; part < chunk->parts + chunk->count; part++)
            run_part(part, arena, table->gemm);
    if (table->threads)
        table->threads(threads);
}
