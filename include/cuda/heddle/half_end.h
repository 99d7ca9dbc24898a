/* Takes back what half_type.h was given. */
#undef HALF
#undef HALF2
#undef RAW
#undef RAW2
#undef OTHER
#undef N
#undef HEDDLE_MANTISSA
#undef HEDDLE_EXPONENT
#undef HEDDLE_WIDEN
#undef HEDDLE_NARROW
#undef HEDDLE_PTX_TYPE
#undef HEDDLE_ADD1_SM
#undef HEDDLE_ADD2_SM
#undef HEDDLE_NO_CONVERSIONS
#undef HEDDLE_NO_INTEGERS
#undef HEDDLE_NO_OPERATORS
#undef HEDDLE_NO_OPERATORS2
