import { useEffect, useState } from "react";

interface GymClass {
  id: string;
  name: string;
  free: number;
}

export function ClassList() {
  const [classes, setClasses] = useState<GymClass[]>();
  const [error, setError] = useState("");
  useEffect(() => {
    fetch("/api/classes")
      .then((answer) => answer.json())
      .then(setClasses)
      .catch(() => setError("The classes could not be loaded. Try again in a minute."));
  }, []);
  if (error) {
    return <p role="alert">{error}</p>;
  }
  if (!classes) {
    return <p role="status">Loading the classes…</p>;
  }
  if (classes.length === 0) {
    return <p>No classes today. Look at tomorrow’s timetable.</p>;
  }
  return (
    <ul className="w-full text-brand">
      {classes.map((each) => (
        <li key={each.id} className="mt-2">
          <img src={`/pictures/${each.id}.png`} alt="" />
          <span>{each.name}</span>
          <button type="button" className="btn" disabled={each.free === 0} onClick={() => book(each.id)}>
            Book {each.name}
          </button>
        </li>
      ))}
    </ul>
  );
}

export function BookingForm() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const send = async (event: React.FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await fetch("/api/bookings", { method: "POST" });
    } catch {
      setError("The class was not booked. Try again in a minute.");
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={send}>
      <label>
        Phone number
        <input name="phone" type="tel" autoComplete="tel" />
      </label>
      <button type="submit" className="btn" disabled={busy}>
        {busy ? "Booking…" : "Book the class"}
      </button>
      {error && <p role="alert">{error}</p>}
    </form>
  );
}

function book(id: string): void {
  window.location.assign(`/book/${id}`);
}
