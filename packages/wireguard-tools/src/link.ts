/** A network device of the node, of any kind, as `ip address` shows it. */
export type Link = {
  readonly name: string;
  readonly index: number;
  /** `wireguard` for the kernel's, `tun` for wireguard-go's; undefined for hardware. */
  readonly kind: string | undefined;
  /** Whether it is set up, whatever its carrier. */
  readonly up: boolean;
  readonly mtuBytes: number;
  /** `''`: no alias. */
  readonly alias: string;
  readonly addresses: readonly LinkAddress[];
  /** `rx_frame_errors`: of the kernel's WireGuard, the decrypted packets that it refused. Undefined: an old `ip` doesn't say. */
  readonly receiveFrameErrors: number | undefined;
  /** Since the link was made. Undefined: an old `ip` doesn't say. */
  readonly receivedBytes: number | undefined;
  readonly sentBytes: number | undefined;
};

/**
 * An address and the prefix length of its network: `10.4.1.1/24`. `isSilent`, of one to add: the kernel never takes it as the
 * source of a packet (`scope host`).
 */
export type LinkAddress = { readonly ip: string; readonly prefixLength: number; readonly isSilent?: true };

/** A change by `ip link set`. Omitted fields stay as they are. */
export type LinkChange = {
  readonly alias?: string;
  readonly mtuBytes?: number;
  readonly up?: boolean;
  /** The kernel doesn't add a link-local address when the link is set up. By default, it does so for a TUN device. */
  readonly linkLocal?: false;
};
