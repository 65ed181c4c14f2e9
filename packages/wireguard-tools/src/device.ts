/** A WireGuard device as `wg` shows it, without its private key. */
export type Device = {
  readonly name: string;
  /** Undefined if the device has no private key. */
  readonly publicKey: string | undefined;
  /** UDP port; 0 before one is chosen. */
  readonly listenPort: number;
  /** Mark of the packets that it sends; 0: no mark. */
  readonly fwMark: number;
  /** In the order of `wg`, which is not sorted. */
  readonly peers: readonly Peer[];
};

/** A peer of a device. */
export type Peer = {
  readonly publicKey: string;
  readonly hasPresharedKey: boolean;
  /** As `wg` writes it: `10.0.0.1:51820`, `[fd00::1]:51820`. Undefined until it is set or learned. */
  readonly endpoint: string | undefined;
  /** Canonical CIDRs, as `parseCidr` returns them. */
  readonly allowedIps: readonly string[];
  /** Unix time; undefined before the first handshake. */
  readonly latestHandshakeSeconds: number | undefined;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** 0: off. */
  readonly keepaliveSeconds: number;
};

/** A change by `wg set`. Omitted fields stay as they are. */
export type DeviceChange = {
  /** A file with the private key, which `wg` reads: a key is never an argument. */
  readonly privateKeyFile?: string;
  /** Only if it differs: `wg` binds the socket again even for the same port, and loses packets. */
  readonly listenPort?: number;
  readonly peers?: readonly PeerChange[];
};

/** A peer to remove, add or change. */
export type PeerChange =
  | { readonly publicKey: string; readonly remove: true }
  | {
      readonly publicKey: string;
      readonly remove?: false;
      /** Replaces the list. A CIDR of another peer moves here silently. */
      readonly allowedIps?: readonly string[];
      /** An address and a port, never a name. If omitted, a known peer keeps its endpoint, even a learned one. */
      readonly endpoint?: string;
      readonly keepaliveSeconds?: number;
      /** Removes a preshared key that somebody else set. */
      readonly clearPresharedKey?: true;
    };
