export type LoanStatus = "requested" | "active" | "returned" | "overdue" | "lost" | "cancelled";

export interface Loan {
  status: LoanStatus;
  extensions: number;
  fines: number[];
}

const NEXT: Record<string, LoanStatus[]> = {
  requested: ["active", "cancelled"],
  active: ["returned", "overdue"],
  overdue: ["returned", "lost"],
};

export function mayMove(loan: Loan, to: LoanStatus): boolean {
  return (NEXT[loan.status] ?? []).includes(to);
}

export function mayExtend(loan: Loan): boolean {
  return loan.extensions < 2;
}

export function highestFine(loan: Loan): number {
  return loan.fines.reduce((most, each) => (each > most ? each : most), 0);
}

export function isName(name: string): boolean {
  return name.length >= 1 && name.length <= 80;
}
