/* Functions as in cuRAND's host generators: inverse error functions by the rational approximations
 * of Blair, Edwards and Johnson ("Rational Chebyshev Approximations for the Inverse of the Error
 * Function", Mathematics of Computation 30, 1976), whose table numbers these are, rounding after
 * each step. Private to this folder.
 */
#ifndef HEDDLE_LIBRARIES_CURAND_HOST_MATH_H
#define HEDDLE_LIBRARIES_CURAND_HOST_MATH_H

#include <math.h>

static inline double host_horner(double x, const double *c, int n)
{
    double y = c[0];
    for (int i = 1; i < n; i++)
        y = y * x + c[i];
    return y;
}

#define HOST_HORNER(x, ...)                                                                                            \
    host_horner(x, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* Table 18: up to 0.75. */
static inline double host_erfinv_small(double x)
{
    double t = x * x - 0.5625;
    double up = HOST_HORNER(t, -0.23886240104308755900e2, 0.45560204272689128170e3, -0.22977467176607144887e4,
                            0.46631433533434331287e4, -0.43799652308386926161e4, 0.19007153590528134753e4,
                            -0.30786872642313695280e3);
    double down = HOST_HORNER(t, 1, -0.83288327901936570000e2, 0.92741319160935318800e3, -0.35088976383877264098e4,
                              0.59039348134843665626e4, -0.48481635430048872102e4, 0.18997769186453057810e4,
                              -0.28386514725366621129e3);
    return x * (up / down);
}

/* Table 39: up to 0.9375. */
static inline double host_erfinv_middle(double x)
{
    double t = x * x - 0.87890625;
    double up = HOST_HORNER(t, 0.21489185007307062000, -0.64200071507209448655e1, 0.29631331505876308123e2,
                            -0.47644367129787181803e2, 0.34810057749357500873e2, -0.12954198980646771502e2,
                            0.25349389220714893917e1, -0.24758242362823355486, 0.94897362808681080020e-2);
    double down = HOST_HORNER(t, 1, -0.12831383833953226499e2, 0.41409991778428888716e2, -0.53715373448862143349e2,
                              0.33880176779595142685e2, -0.11315360624238054876e2, 0.20369295047216351160e1,
                              -0.18611650627372178511, 0.67544512778850945940e-2);
    return x * (up / down);
}

/* Table 59: the tail, by minus the logarithm of the distance to 1. */
static inline double host_erfinv_tail(double minus_log)
{
    double t = 1 / sqrt(minus_log);
    double up =
        HOST_HORNER(t, 2.7834010353747001060e-3, 8.6030097526280260580e-1, 2.1371214997265515515, 3.1598519601132090206,
                    3.5780402569085996758, 1.5335297523989890804, 3.4839207139657522572e-1, 5.3644861147153648366e-2,
                    4.3836709877126095665e-3, 1.3858518113496718808e-4, 1.1738352509991666680e-6);
    double down =
        HOST_HORNER(t, 1, 2.2859981272422905412, 4.3859045256449554654, 4.6632960348736635331, 3.9846608184671757296,
                    1.6068377709719017609, 3.5609087305900265560e-1, 5.3963550303200816744e-2, 4.3873424022706935023e-3,
                    1.3858762165532246059e-4, 1.1738313872397777529e-6);
    return up / (down * t);
}

/* For 1e-100 to 2. */
static inline double host_erfcinv(double x)
{
    if (x < 0.0625)
        return host_erfinv_tail(-log(x));
    double y = 1 - x, size = fabs(y);
    if (size >= 0.9375)
        return copysign(host_erfinv_tail(-log1p(-size)), y);
    return size >= 0.75 ? host_erfinv_middle(y) : host_erfinv_small(y);
}

#endif
