/* video instructions: included by sem.h. */
