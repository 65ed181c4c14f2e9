/** A WireGuard device as `wg` shows it, without its private key. */
export type Device = {
  readonly name: string;
  /** Undefined if the device has no private key. */
  readonly publicKey: string | undefined;
  /** UDP port; 0 while none was chosen. */
  readonly listenPort: number;
  /** Mark of the packets that it sends; 0 for none. */
  readonly fwMark: number;
  /** In the order in which `wg` shows them, which is none. */
  readonly peers: readonly Peer[];
};

/** A peer of a device. */
export type Peer = {
  readonly publicKey: string;
  readonly hasPresharedKey: boolean;
  /** As `wg` writes it: `10.0.0.1:51820`, `[fd00::1]:51820`. Undefined until it is set or learnt. */
  readonly endpoint: string | undefined;
  /** Canonical CIDRs, as `parseCidr` has them. */
  readonly allowedIps: readonly string[];
  /** Seconds since the epoch; undefined before the first handshake. */
  readonly latestHandshakeSeconds: number | undefined;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** 0 is off. */
  readonly keepaliveSeconds: number;
};

/** What `wg set` is to change of a device. What isn't named stays as it is. */
export type DeviceChange = {
  /** A file that holds the private key, for `wg` to read: a key is never an argument. */
  readonly privateKeyFile?: string;
  /** Name it only if it differs: `wg` binds the socket anew even to the same port, and packets are lost. */
  readonly listenPort?: number;
  readonly peers?: readonly PeerChange[];
};

/** A peer that goes, comes, or changes. */
export type PeerChange =
  | { readonly publicKey: string; readonly remove: true }
  | {
      readonly publicKey: string;
      readonly remove?: false;
      /** All of them; what isn't in the list goes. One that another peer had moves here, silently. */
      readonly allowedIps?: readonly string[];
      /** An address and a port, never a name. Without it a known peer keeps its endpoint, also one that was learnt. */
      readonly endpoint?: string;
      readonly keepaliveSeconds?: number;
      /** Takes away the preshared key that somebody else gave it. */
      readonly clearPresharedKey?: true;
    };
