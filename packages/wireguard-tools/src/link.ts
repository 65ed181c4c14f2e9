/** A network device of the node, of any kind, as `ip address` shows it. */
export type Link = {
  readonly name: string;
  readonly index: number;
  /** `wireguard` for the kernel's, `tun` for wireguard-go's; undefined for hardware. */
  readonly kind: string | undefined;
  /** Whether it is set up, which doesn't say that a cable is in. */
  readonly up: boolean;
  readonly mtuBytes: number;
  /** `''` if nobody set one. */
  readonly alias: string;
  readonly addresses: readonly LinkAddress[];
};

/** An address and its network's length, with the host's bits: `10.4.1.1/24`. */
export type LinkAddress = { readonly ip: string; readonly prefixLength: number };

/** What `ip link set` is to change. What isn't named stays as it is. */
export type LinkChange = {
  readonly alias?: string;
  readonly mtuBytes?: number;
  readonly up?: boolean;
  /** The kernel is to give it no link-local address when it is set up, as a TUN gets one and a WireGuard device none. */
  readonly linkLocal?: false;
};
