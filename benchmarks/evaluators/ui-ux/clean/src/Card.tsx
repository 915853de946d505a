export type RoomStatus = "free" | "held" | "booked" | "closed";

const anchor = "#abc123";

export function Card({ name, status, onPick }: { name: string; status: RoomStatus; onPick: () => void }) {
  return (
    <section className="card">
      <h2 className="text-lg">{name}</h2>
      <img src="room.png" alt={`The room ${name}`} />
      <button type="button" disabled={status !== "free"} onClick={onPick}>
        Pick this room
      </button>
      <a href={anchor}>All days</a>
    </section>
  );
}
