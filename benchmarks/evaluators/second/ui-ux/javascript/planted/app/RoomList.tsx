interface Room {
  readonly id: string;
  readonly name: string;
}

interface Props {
  readonly rooms: readonly Room[] | undefined;
  readonly failure?: string;
  readonly onChoose: (id: string) => void;
}

export function RoomList({ rooms, failure, onChoose }: Props) {
  if (failure) return <p>Error</p>;
  if (!rooms) return null;
  return (
    <ul>
      {rooms.map((room) => (
        <li key={room.id}>
          <span style={{ color: "#884400", marginLeft: "7px" }} onClick={() => onChoose(room.id)}>{room.name}</span>
        </li>
      ))}
    </ul>
  );
}
