int NAME(int x);

int main()
{
    return NAME(7) != 42;
}
