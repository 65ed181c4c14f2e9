import type { Server, Socket } from 'node:net';

/**
 * Keeps at most `max` connections open, and accepts every new one: closes the oldest one of the address that has most. The
 * `maxConnections` of a server refuses the new one instead. A neighbour that opens as many, silent ones, would lock out
 * the kubelet, whose probes have an address of their own.
 */
export function boundConnections(server: Server, max: number): void {
  /** In the order in which they came. */
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (open.size <= max) return;
    const [oldest] = mostOfOneAddress(open);
    if (oldest === undefined) return;
    // It closes later, perhaps after the next connection.
    open.delete(oldest);
    oldest.destroy();
  });
}

/** Of equals, the address that came first. */
function mostOfOneAddress(sockets: Iterable<Socket>): readonly Socket[] {
  const byAddress = Map.groupBy(sockets, ({ remoteAddress }) => remoteAddress);
  return [...byAddress.values()].reduce((most, each) => (each.length > most.length ? each : most), []);
}
