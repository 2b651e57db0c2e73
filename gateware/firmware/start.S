# The processor starts here, at address 0. RAM holds the whole image after configuration; what a reset
# finds in it, the firmware has written, so that .bss is emptied again and there is no .data (link.ld).
  .section .text.start, "ax", @progbits
  .globl _start
_start:
  lui sp, %hi(__stack_top)
  lui t0, %hi(__bss_start)
  addi t0, t0, %lo(__bss_start)
  lui t1, %hi(__bss_end)
  addi t1, t1, %lo(__bss_end)
  j 2f
1:
  sw zero, 0(t0)
  addi t0, t0, 4
2:
  bltu t0, t1, 1b
  jal main
  # main never returns; were it to, the processor stops with a fault.
  ebreak
