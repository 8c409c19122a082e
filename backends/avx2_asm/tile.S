/* Tiles of 16 rows x 1 to 4 columns of the Q8_0 product: System V calls, AVX2.
 *
 * A vector holds 8 rows x 4 consecutive k; of a column, low is the vector of rows 0-7 and high of rows
 * 8-15, a row a lane. vpmaddubsw multiplies |w|, unsigned, by q with w's sign; vpmaddwd adds the two
 * 16-bit lanes of a row, vpaddd the units.
 *
 *   packed   weights as they are: vpsignb negates q, two products are within 32512 and fit 16 bits
 *   slab     weights prepared for many columns: ~q = -q - 1 by vpxor where w < 0, within -32768; a
 *            sum begins at what that takes off, the row's sum of |w| where w < 0
 *
 * Sums of integers are exact: any order gives scalar's. Then y + (float)isum * (d * dx), each rounded:
 * a lane of y is the one accumulator of its row, and blocks come ascending, as in scalar. */
#include "tile.h"

  .intel_syntax noprefix
  .text

/* Eight rows of a unit: |w| in ymm8 (rows 0-7) and ymm9, what gives the signs in ymm13 and ymm14. */
.macro load_unit packed, at
  .if \packed
  vmovdqa ymm13, [rax + \at]
  vmovdqa ymm14, [rax + \at + 32]
  vpabsb ymm8, ymm13
  vpabsb ymm9, ymm14
  .else
  vmovdqa ymm8, [rax + \at]
  vmovdqa ymm9, [rax + \at + 32]
  vmovdqa ymm13, [rax + KR_ASM_NEGATIVE + \at]
  vmovdqa ymm14, [rax + KR_ASM_NEGATIVE + \at + 32]
  .endif
.endm

/* The unit with one column, whose four k are at [x + k]; ymm15 is ones of 16 bits. The first unit
 * begins the sums. */
.macro unit_column packed, unit, low, high, x, k
  vpbroadcastd ymm10, dword ptr [\x + \k]
  .if \packed
  vpsignb ymm11, ymm10, ymm13
  vpsignb ymm12, ymm10, ymm14
  .else
  vpxor ymm11, ymm10, ymm13
  vpxor ymm12, ymm10, ymm14
  .endif
  vpmaddubsw ymm11, ymm8, ymm11
  vpmaddubsw ymm12, ymm9, ymm12
  .if \packed && \unit == 0
  vpmaddwd \low, ymm11, ymm15
  vpmaddwd \high, ymm12, ymm15
  .else
  vpmaddwd ymm11, ymm11, ymm15
  vpmaddwd ymm12, ymm12, ymm15
  .if \unit == 0
  vpaddd \low, ymm11, [rax + KR_ASM_MISSING]
  vpaddd \high, ymm12, [rax + KR_ASM_MISSING + 32]
  .else
  vpaddd \low, \low, ymm11
  vpaddd \high, \high, ymm12
  .endif
  .endif
.endm

/* Adds a block's sums to one column's accumulators at [y]; ymm8 and ymm9 are the rows' scales, dx is
 * at [d + at]. */
.macro add_column low, high, d, at, y
  vbroadcastss ymm10, dword ptr [\d + \at]
  vcvtdq2ps \low, \low
  vcvtdq2ps \high, \high
  vmulps ymm11, ymm10, ymm8
  vmulps ymm12, ymm10, ymm9
  vmulps \low, \low, ymm11
  vmulps \high, \high, ymm12
  vaddps \low, \low, [\y]
  vaddps \high, \high, [\y + 32]
  vmovups [\y], \low
  vmovups [\y + 32], \high
.endm

/* One block: its weights at [rax + w]; block is its number in the pair, 0 in a slab. */
.macro one_block packed, columns, w, block
  .irp unit, 0, 1, 2, 3, 4, 5, 6, 7
  load_unit \packed, (\w+64*\unit)
  unit_column \packed, \unit, ymm0, ymm1, rdx, (32*\block+4*\unit)
  .if \columns > 1
  unit_column \packed, \unit, ymm2, ymm3, rdx+rcx, (32*\block+4*\unit)
  .endif
  .if \columns > 2
  unit_column \packed, \unit, ymm4, ymm5, rdx+2*rcx, (32*\block+4*\unit)
  .endif
  .if \columns > 3
  unit_column \packed, \unit, ymm6, ymm7, rdx+r8, (32*\block+4*\unit)
  .endif
  .endr
  .if \packed
  vcvtph2ps ymm8, [rax + 32 * \block]
  vcvtph2ps ymm9, [rax + 32 * \block + 16]
  .else
  vmovaps ymm8, [rax + KR_ASM_D]
  vmovaps ymm9, [rax + KR_ASM_D + 32]
  .endif
  add_column ymm0, ymm1, r9, (4*\block), rsi
  .if \columns > 1
  add_column ymm2, ymm3, r9+r10, (4*\block), rsi+rdi
  .endif
  .if \columns > 2
  add_column ymm4, ymm5, r9+2*r10, (4*\block), rsi+2*rdi
  .endif
  .if \columns > 3
  add_column ymm6, ymm7, r9+r11, (4*\block), rsi+rbp
  .endif
.endm

.macro tile name, packed, columns
  .globl \name
#if defined(__ELF__)
  .hidden \name
  .type \name, @function
#endif
  .p2align 5
\name:
  .cfi_startproc
  push rbx
  .cfi_def_cfa_offset 16
  .cfi_offset rbx, -16
  push rbp
  .cfi_def_cfa_offset 24
  .cfi_offset rbp, -24
  mov rax, [rdi]
  mov rdx, [rdi + KR_ASM_Q]
  mov r9, [rdi + KR_ASM_DX]
  mov rsi, [rdi + KR_ASM_Y]
  mov rbx, [rdi + KR_ASM_COUNT]
  mov rcx, [rdi + KR_ASM_K] /* bytes from column to column in q ... */
  mov rdi, [rdi + KR_ASM_LDY]
  shl rdi, 2 /* ... in y ... */
  mov r10, rcx
  shr r10, 3 /* ... and in d: 4 k / 32 */
  lea r8, [rcx + 2 * rcx]
  lea r11, [r10 + 2 * r10]
  lea rbp, [rdi + 2 * rdi]
  vpcmpeqw ymm15, ymm15, ymm15
  vpabsw ymm15, ymm15
  test rbx, rbx
  jle 2f
  .p2align 5
1:
  .if \packed
  one_block 1, \columns, 64, 0
  one_block 1, \columns, 576, 1
  add rax, KR_ASM_PAIR
  add rdx, 64
  add r9, 8
  .else
  one_block 0, \columns, 0, 0
  add rax, KR_ASM_BLOCK
  add rdx, 32
  add r9, 4
  .endif
  dec rbx
  jnz 1b
2:
  vzeroupper
  pop rbp
  .cfi_def_cfa_offset 16
  pop rbx
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
#if defined(__ELF__)
  .size \name, . - \name
#endif
.endm

  .irp columns, 1, 2, 3, 4
  tile kr_avx2_asm_slab_\columns, 0, \columns
  tile kr_avx2_asm_packed_\columns, 1, \columns
  .endr

#if defined(__ELF__)
  .section .note.GNU-stack, "", @progbits
#endif
