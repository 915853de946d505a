export type RoomStatus =
  "free" | "held" | "booked" | "paid" | "late" | "cleaning" | "closed" | "unknown" | "gone";

export function Card({ name, onPick }: { name: string; onPick: () => void }) {
  return (
    <section style={{ color: "#334455" }}>
      <h2 className="text-[17px] text-[#ff0000]">{name}</h2>
      <img src="room.png" />
      <div onClick={onPick}>Pick</div>
      <p style={{ marginTop: "13px" }}>HTTP 500: exception in payload</p>
    </section>
  );
}
