const ETHERNET_HEADER = 14;
const IPV6_HEADER = 40;
const UDP_HEADER = 8;
const UDP = 17;

/** WireGuard's message types, by the first byte; the next three are zero. */
const messages = ['', 'initiation', 'response', 'cookie', 'data'] as const;

/** An IP packet from an Ethernet frame. */
export type Packet = {
  readonly family: 4 | 6;
  /** Number of the protocol inside: 1 ICMP, 6 TCP, 17 UDP, 58 ICMPv6. */
  readonly protocol: number;
  /** The bytes after the IP header. */
  readonly payload: Buffer;
};

/** The packet in a frame; undefined if it isn't IP. */
export function packetIn(frame: Buffer): Packet | undefined {
  if (frame.length < ETHERNET_HEADER + 20) return undefined;
  const type = frame.readUInt16BE(12);
  const packet = frame.subarray(ETHERNET_HEADER);
  if (type === 0x0800) {
    // The frame may be padded to Ethernet's minimum of 60 bytes.
    const whole = packet.subarray(0, packet.readUInt16BE(2));
    return { family: 4, protocol: packet.readUInt8(9), payload: whole.subarray((packet.readUInt8(0) & 0xf) * 4) };
  }
  if (type !== 0x86dd || packet.length < IPV6_HEADER) return undefined;
  const end = IPV6_HEADER + packet.readUInt16BE(4);
  return { family: 6, protocol: packet.readUInt8(6), payload: packet.subarray(IPV6_HEADER, end) };
}

/** The WireGuard message in a packet; undefined if there isn't one. */
export function wireGuardMessage({
  protocol,
  payload,
}: Packet): 'initiation' | 'response' | 'cookie' | 'data' | undefined {
  if (protocol !== UDP || payload.length < UDP_HEADER + 4) return undefined;
  return messages[payload.readUInt32LE(UDP_HEADER)] || undefined;
}
