"""What WebAssembly has no instruction for: numbers of 128 bits, as functions of numbers of 64.

LLVM calls them by these names where it compiles a product or a shift of such numbers.
"""

from __future__ import annotations

PARTS = """
  %al = trunc i128 %a to i64
  %ah.wide = lshr i128 %a, 64
  %ah = trunc i128 %ah.wide to i64"""
WHOLE = """
  %low.wide = zext i64 %low to i128
  %high.wide = zext i64 %high to i128
  %high.up = shl i128 %high.wide, 64
  %whole = or i128 %low.wide, %high.up
  ret i128 %whole
}"""
BY = f"""{PARTS}
  %n = zext i32 %by to i64
  %rest = and i64 %n, 63
  %is.far = icmp ugt i64 %n, 63
  %is.whole = icmp eq i64 %rest, 0
  %back = sub i64 64, %rest
  %back.known = and i64 %back, 63"""
PRODUCT = f"""define i128 @__multi3(i128 %a, i128 %b) nounwind noinline optnone {{{PARTS}
  %bl = trunc i128 %b to i64
  %bh.wide = lshr i128 %b, 64
  %bh = trunc i128 %bh.wide to i64
  %a0 = and i64 %al, 4294967295
  %a1 = lshr i64 %al, 32
  %b0 = and i64 %bl, 4294967295
  %b1 = lshr i64 %bl, 32
  %p00 = mul i64 %a0, %b0
  %p01 = mul i64 %a0, %b1
  %p10 = mul i64 %a1, %b0
  %p11 = mul i64 %a1, %b1
  %carry = lshr i64 %p00, 32
  %middle = add i64 %p10, %carry
  %middle.low = and i64 %middle, 4294967295
  %middle.high = lshr i64 %middle, 32
  %next = add i64 %p01, %middle.low
  %next.high = lshr i64 %next, 32
  %low = mul i64 %al, %bl
  %cross1 = mul i64 %al, %bh
  %cross2 = mul i64 %ah, %bl
  %sum1 = add i64 %p11, %middle.high
  %sum2 = add i64 %sum1, %next.high
  %sum3 = add i64 %sum2, %cross1
  %high = add i64 %sum3, %cross2{WHOLE}"""
UP = f"""define i128 @__ashlti3(i128 %a, i32 %by) nounwind noinline optnone {{{BY}
  %over = lshr i64 %al, %back.known
  %moved = select i1 %is.whole, i64 0, i64 %over
  %low.near = shl i64 %al, %rest
  %high.up64 = shl i64 %ah, %rest
  %high.near = or i64 %high.up64, %moved
  %low = select i1 %is.far, i64 0, i64 %low.near
  %high = select i1 %is.far, i64 %low.near, i64 %high.near{WHOLE}"""
DOWN = f"""define i128 @__lshrti3(i128 %a, i32 %by) nounwind noinline optnone {{{BY}
  %over = shl i64 %ah, %back.known
  %moved = select i1 %is.whole, i64 0, i64 %over
  %high.near = lshr i64 %ah, %rest
  %low.down64 = lshr i64 %al, %rest
  %low.near = or i64 %low.down64, %moved
  %high = select i1 %is.far, i64 0, i64 %high.near
  %low = select i1 %is.far, i64 %high.near, i64 %low.near{WHOLE}"""
WIDE = f"{PRODUCT}\n{UP}\n{DOWN}"
