export type Status = "draft" | "placed" | "paid" | "cancelled" | "shipped";

export interface Order {
  status: Status;
}

export const next: Record<Status, Status[]> = {
  draft: ["placed"],
  placed: ["paid", "cancelled"],
  paid: ["shipped"],
  cancelled: [],
  shipped: [],
};

export function move(order: Order, to: Status): void {
  if (!next[order.status].includes(to)) {
    throw new Error(`${order.status} cannot become ${to}`);
  }
  order.status = to;
}

export function cancel(order: Order): void {
  if (order.status === "placed") {
    order.status = "cancelled";
  }
}
