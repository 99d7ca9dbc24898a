// A kernel without __global__.
void scale(float *x) { x[0] *= 2; }

int main()
{
    scale<<<1, 1>>>(nullptr);
}
