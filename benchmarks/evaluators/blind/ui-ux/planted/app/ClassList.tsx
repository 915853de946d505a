import { useEffect, useState } from "react";

interface GymClass {
  id: string;
  name: string;
  free: number;
}

export function ClassList() {
  const [classes, setClasses] = useState<GymClass[]>([]);
  useEffect(() => {
    fetch("/api/classes").then((answer) => answer.json()).then(setClasses);
  }, []);
  return (
    <ul className="w-[437px] text-[#336699]">
      {classes.map((each) => (
        <li key={each.id} style={{ marginTop: 7, color: "#c00" }}>
          <img src={`/pictures/${each.id}.png`} />
          <div onClick={() => book(each.id)}>{each.name}</div>
          <button className="bg-brand" onClick={() => book(each.id)}>OK</button>
        </li>
      ))}
    </ul>
  );
}

export function BookingForm() {
  const send = async (event: React.FormEvent) => {
    event.preventDefault();
    await fetch("/api/bookings", { method: "POST" });
  };
  return (
    <form onSubmit={send}>
      <input name="phone" />
      <button type="submit">Book the class</button>
      <p>An error occured</p>
    </form>
  );
}

function book(id: string): void {
  window.location.assign(`/book/${id}`);
}
