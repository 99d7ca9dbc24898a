int four_times(int x);

int main()
{
    return four_times(3) != 12;
}
