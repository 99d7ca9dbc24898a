bool is_right(const float *values, int n)
{
    for (int i = 0; i < n; i++)
        if (values[i] != 3.0f * i)
            return false;
    return true;
}
