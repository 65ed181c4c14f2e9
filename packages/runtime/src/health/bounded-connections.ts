import type { Server, Socket } from 'node:net';

/**
 * Keeps at most `max` connections open, and refuses none: for a new one an old one is closed, the oldest of the address that
 * has most. A server's `maxConnections` refuses the new one instead, so a neighbour that opens as many and says nothing would
 * keep the kubelet out, whose probes come from an address of their own.
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
    // It closes later, and others may come before.
    open.delete(oldest);
    oldest.destroy();
  });
}

/** Of several addresses that have as many, the one that came first. */
function mostOfOneAddress(sockets: Iterable<Socket>): readonly Socket[] {
  const byAddress = Map.groupBy(sockets, ({ remoteAddress }) => remoteAddress);
  return [...byAddress.values()].reduce((most, each) => (each.length > most.length ? each : most), []);
}
