import { describe, expect, it } from "vitest";
import { isPassword, mayReturn, mayWatch } from "./tickets.ts";

describe("tickets", () => {
  it.each([
    [17, false],
    [18, true],
    [19, true],
  ])("BR-7 %d sees a film for adults: %s", (age, may) => {
    expect(mayWatch(age)).toBe(may);
  });

  it("BR-3 is returned in time", () => {
    expect(mayReturn(1)).toBe(false);
    expect(mayReturn(2)).toBe(true);
    expect(mayReturn(3)).toBe(true);
  });

  it("BR-6 knows good passwords", () => {
    expect(isPassword("ninechars")).toBe(false);
    expect(isPassword("tencharsss")).toBe(true);
    expect(isPassword("elevenchars")).toBe(true);
  });
});
