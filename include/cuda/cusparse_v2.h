#include "cusparse.h" /* its older name */
