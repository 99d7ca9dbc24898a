// Cases of a test program that is run with the name of one: CASE(name) { ... }.
#define CASE(name)                                                                                                     \
    static void name();                                                                                                \
    static registered of_##name(#name, name);                                                                          \
    static void name()

struct registered;
static registered *first;
struct registered {
    const char *name;
    void (*run)();
    registered *next;
    registered(const char *n, void (*f)()) : name(n), run(f), next(first) { first = this; }
};
