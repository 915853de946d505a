export type Status = "draft" | "placed" | "paid" | "cancelled" | "shipped" | "returned";

export interface Order {
  status: Status;
}

export const next: Record<Status, Status[]> = {
  draft: ["placed"],
  placed: ["paid", "cancelled"],
  paid: ["shipped"],
  cancelled: ["paid"],
  shipped: ["returned"],
  returned: [],
};

export function cancel(order: Order): void {
  if (order.status === "shipped") {
    order.status = "cancelled";
  }
}

export function close(order: Order): void {
  order.status = "closed" as Status;
}
