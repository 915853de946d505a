import useSWR from "swr";
import { useEffect, useState } from "react";

export function Rooms() {
  const [rooms, setRooms] = useState<{ id: string; name: string }[]>([]);
  useEffect(() => {
    async function load() {
      const answer = await fetch("/api/rooms");
      setRooms(await answer.json());
    }
    void load();
  }, []);
  return (
    <div>
      {rooms.map((room) => (
        <p key={room.id} style={{ background: "papayawhip", paddingLeft: 18 }}>
          {room.name}
        </p>
      ))}
    </div>
  );
}

export const Guides = () => {
  const { data } = useSWR("/api/guides", (url: string) => fetch(url).then((answer) => answer.json()));
  return <ul>{data.map((guide: string) => <li key={guide}>{guide}</li>)}</ul>;
};

export const Ticket = ({ onBuy, notify }: { onBuy: () => void; notify: (text: string) => void }) => (
  <form>
    <select name="day">
      <option>Monday</option>
    </select>
    <input type="number" placeholder="How many" />
    <span tabIndex={3}>Prices</span>
    <a href="/terms">this page</a>
    <button type="button" onClick={onBuy}>
      Yes
    </button>
    <button type="button" onClick={() => notify("Your order was succesfully sent")}>
      Tell me
    </button>
    <div className="bg-[salmon] p-[18px]">Members pay less.</div>
  </form>
);
