interface Room {
  readonly id: string;
  readonly name: string;
}

interface Props {
  readonly rooms: readonly Room[] | undefined;
  readonly failure?: string;
  readonly onChoose: (id: string) => void;
  readonly onRetry: () => void;
}

export function RoomList({ rooms, failure, onChoose, onRetry }: Props) {
  if (failure) {
    return (
      <p role="alert">
        The rooms could not be loaded. <button type="button" className="buy" onClick={onRetry}>Try again</button>
      </p>
    );
  }
  if (!rooms) return <p role="status">Loading the rooms</p>;
  if (rooms.length === 0) return <p>No room is open today.</p>;
  return (
    <ul>
      {rooms.map((room) => (
        <li key={room.id}>
          <button type="button" className="buy" onClick={() => onChoose(room.id)}>{room.name}</button>
        </li>
      ))}
    </ul>
  );
}
