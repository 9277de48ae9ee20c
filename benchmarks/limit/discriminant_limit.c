/* How fast can the online linear discriminant be on this machine? Two classes, hard counts, one constant rate, and
 * nothing but the arithmetic: no checks, no labels, no ridge, no warm-up. It is compiled for one width (-DFEATURES=p)
 * and for the processor at hand, so every loop has a known length.
 *
 * For a row x of class k, with e = x - m_k before the row,
 *     m_k <- m_k + gain e,      S <- (a S + weight e e') / (a + rate),      a = (1 - rate) N,
 * and S^-1 = scale Q follows by Sherman-Morrison's formula: with u = Q e,
 *     Q <- Q - shrink u u',     shrink = 1 / (a / (weight scale) + e'u),    scale <- scale (a + rate) / a.
 *
 * Q is kept as the blocks on and above its diagonal, LANES x LANES each, in the order of reading. The rank-one change
 * of a row is made on the next row's way through Q, so that each row loads and stores the triangle once. On the
 * diagonal blocks it is written shrink (u_i u_j), which rounds alike on both sides: asymmetry would never fade.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#if FEATURES <= 2 || !defined(__AVX__)
#define LANES 2
#define EVEN 0, 2
#define ODD 1, 3
#elif FEATURES <= 4 || !defined(__AVX512F__)
#define LANES 4
#define EVEN 0, 2, 4, 6
#define ODD 1, 3, 5, 7
#else
#define LANES 8
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD 1, 3, 5, 7, 9, 11, 13, 15
#endif

#define BLOCKS ((FEATURES + LANES - 1) / LANES)
#define CLASSES 2

typedef double vec __attribute__((vector_size(8 * LANES)));

typedef struct {
    vec block[BLOCKS * (BLOCKS + 1) / 2][LANES]; /* Q */
    vec u[BLOCKS];                               /* the pending change of Q ... */
    double shrink;                               /* ... Q - shrink u u' */
    double scale;
    vec mean[CLASSES][BLOCKS], weights[CLASSES][BLOCKS]; /* m_c, and w_c = Q m_c */
    double half_square[CLASSES];                         /* m_c'w_c / 2 */
    double count[CLASSES], log_prior[CLASSES], total;
} Model;

/* Eight (four, two) sums at once: neighbours are added until one number of each vector is left. */
static inline vec sums(vec s[LANES]) {
    for (int left = LANES; left > 1; left /= 2)
        for (int i = 0; i < left / 2; i++)
            s[i] = __builtin_shufflevector(s[2 * i], s[2 * i + 1], EVEN) +
                   __builtin_shufflevector(s[2 * i], s[2 * i + 1], ODD);
    return s[0];
}

static inline double sum(vec s) {
    for (int left = LANES; left > 1; left /= 2)
        s = __builtin_shufflevector(s, s, EVEN) + __builtin_shufflevector(s, s, ODD);
    return s[0];
}

static inline double dot(const vec *a, const vec *b) {
    vec s = a[0] * b[0];
    for (int i = 1; i < BLOCKS; i++) s += a[i] * b[i];
    return sum(s);
}

/* Makes the pending change of Q and gives out = Q e. */
static inline void change_and_apply(Model *model, const vec *e, vec *out) {
    const vec *u = model->u;
    const double shrink = model->shrink;
    vec(*q)[LANES] = model->block;
    for (int i = 0; i < BLOCKS; i++) out[i] = (vec){0};
    for (int i = 0; i < BLOCKS; i++) {
        const vec shrunk = shrink * u[i];
        vec across[LANES], along = out[i];
        for (int r = 0; r < LANES; r++) {
            const vec changed = (*q)[r] - shrink * (u[i][r] * u[i]);
            (*q)[r] = changed;
            along += changed * e[i][r];
            across[r] = (vec){0};
        }
        q++;
        for (int j = i + 1; j < BLOCKS; j++, q++) {
            vec below = out[j];
#pragma GCC unroll 8
            for (int r = 0; r < LANES; r++) {
                const vec changed = (*q)[r] - shrunk[r] * u[j];
                (*q)[r] = changed;
                across[r] += changed * e[j];
                below += changed * e[i][r];
            }
            out[j] = below;
        }
        out[i] = i + 1 < BLOCKS ? along + sums(across) : along;
    }
}

static inline int64_t answer(const Model *model, const vec *x) {
    double score[CLASSES];
    for (int c = 0; c < CLASSES; c++)
        score[c] = model->log_prior[c] + model->scale * (dot(model->weights[c], x) - model->half_square[c]);
    return score[1] > score[0];
}

static inline void learn(Model *model, const vec *x, int64_t k, double rate) {
    const double n = model->count[k], keep = (1 - rate) * n, gain = rate / (keep + rate);
    const double a = (1 - rate) * model->total, stretch = (n + 1) * (1 - rate) / (keep + rate);
    const double weight = rate * n / (n + 1) * stretch * stretch, resistance = a / (weight * model->scale);

    vec e[BLOCKS], u[BLOCKS];
    double along[CLASSES];
    for (int i = 0; i < BLOCKS; i++) {
        e[i] = x[i] - model->mean[k][i];
        model->mean[k][i] += gain * e[i];
    }
    for (int c = 0; c < CLASSES; c++) along[c] = dot(model->weights[c], e);
    change_and_apply(model, e, u);
    const double shrink = 1 / (resistance + dot(e, u));

    for (int c = 0; c < CLASSES; c++) {
        const double step = shrink * ((c == k ? gain * resistance : 0) - along[c]);
        for (int i = 0; i < BLOCKS; i++) model->weights[c][i] += step * u[i];
        model->half_square[c] = 0.5 * dot(model->weights[c], model->mean[c]);
    }
    memcpy(model->u, u, sizeof u);
    model->shrink = shrink;
    model->scale *= (a + rate) / a;
    model->count[k] = n + 1;
    model->total += 1;
    model->log_prior[k] = log(n + 1); /* at rate 1/2; at others the last row's class is favoured a little */
}

/* From class means, S^-1 and class counts. */
static void begin(Model *model, const double *means, const double *precision, const double *counts) {
    memset(model, 0, sizeof *model);
    int at = 0;
    for (int i = 0; i < BLOCKS; i++)
        for (int j = i; j < BLOCKS; j++, at++)
            for (int r = 0; r < LANES; r++)
                for (int s = 0; s < LANES; s++)
                    if (i * LANES + r < FEATURES && j * LANES + s < FEATURES)
                        model->block[at][r][s] = precision[(i * LANES + r) * FEATURES + j * LANES + s];
    model->scale = 1;
    for (int c = 0; c < CLASSES; c++) {
        memcpy(model->mean[c], means + c * FEATURES, FEATURES * sizeof(double));
        change_and_apply(model, model->mean[c], model->weights[c]);
        model->half_square[c] = 0.5 * dot(model->weights[c], model->mean[c]);
        model->count[c] = counts[c];
        model->log_prior[c] = log(counts[c]);
        model->total += counts[c];
    }
}

/* The last block is put together in a register: a copy to memory, read back in one piece, would have to wait. */
static inline void read(const double *from, vec *x) {
    for (int i = 0; i < FEATURES / LANES; i++) memcpy(x + i, from + i * LANES, sizeof *x);
    for (int j = FEATURES / LANES * LANES; j < FEATURES; j++) x[BLOCKS - 1][j % LANES] = from[j];
}

/* Answers each of the rows before its label is learned. */
void answer_then_learn(const double *means, const double *precision, const double *counts, double rate, const double *X,
                       const int64_t *y, int64_t rows, int64_t *answers) {
    Model model;
    vec x[BLOCKS] = {0};
    begin(&model, means, precision, counts);
    for (int64_t t = 0; t < rows; t++) {
        read(X + t * FEATURES, x);
        answers[t] = answer(&model, x);
        learn(&model, x, y[t], rate);
    }
}
