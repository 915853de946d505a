import { describe, expect, it } from "vitest";
import { isPassword, mayReturn } from "./tickets.ts";

describe("tickets", () => {
  it.todo("BR-7 nobody below 18 sees a film for adults");

  it("BR-3 is returned in time", () => {
    expect(mayReturn(48)).toBe(true);
  });

  it("BR-6 knows good passwords", () => {
    expect(isPassword("short")).toBe(false);
    expect(isPassword("long enough for everybody")).toBe(true);
  });
});
