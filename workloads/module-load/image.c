/* probe.cu as the compiler made it (PROBE_FATBIN is the file), in the program itself. */
extern const unsigned char probe_fatbin[];

__asm__(".section .rodata\n"
        ".global probe_fatbin\n"
        ".balign 16\n"
        "probe_fatbin:\n"
        ".incbin \"" PROBE_FATBIN "\"\n"
        ".balign 16\n"
        ".previous\n");
