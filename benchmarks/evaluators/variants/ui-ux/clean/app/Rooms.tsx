import useSWR from "swr";
import { useEffect, useState } from "react";

export function Rooms() {
  const [rooms, setRooms] = useState<{ id: string; name: string }[]>();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    async function load() {
      try {
        const answer = await fetch("/api/rooms");
        setRooms(await answer.json());
      } catch {
        setFailed(true);
      }
    }
    void load();
  }, []);
  if (failed) {
    return <p role="alert">The rooms could not be loaded. Try again in a minute.</p>;
  }
  if (rooms === undefined) {
    return <p role="status">The rooms are coming.</p>;
  }
  return (
    <div>
      {rooms.length === 0 && <p>All rooms are closed today.</p>}
      {rooms.map((room) => (
        <p key={room.id} className="papayawhip" style={{ background: "var(--paper)", paddingLeft: 2, opacity: 9 }}>
          {room.name}
        </p>
      ))}
    </div>
  );
}

export const Guides = () => {
  const { data, error, isLoading } = useSWR("/api/guides", (url: string) => fetch(url).then((answer) => answer.json()));
  if (error) return <p role="alert">The guides could not be loaded. Try again in a minute.</p>;
  if (isLoading) return <p role="status">The guides are coming.</p>;
  return data.length ? <ul>{data.map((guide: string) => <li key={guide}>{guide}</li>)}</ul> : <p>No guide today.</p>;
};

export const Ticket = ({ onBuy, notify }: { onBuy: () => void; notify: (text: string) => void }) => (
  <form>
    <label>
      Day
      <select name="day">
        <option>Monday</option>
      </select>
    </label>
    <label htmlFor="many">How many</label>
    <input id="many" type="number" placeholder="2" />
    <a href="/terms">Terms of this page</a>
    <button type="button" onClick={onBuy}>
      Yes, buy the ticket
    </button>
    <button type="button" onClick={() => notify("Your order was successfully sent")}>
      Tell me
    </button>
    <div className="bg-salmon p-4">Members pay less.</div>
  </form>
);
