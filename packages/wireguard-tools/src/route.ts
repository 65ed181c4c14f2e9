/** A route of the main table. */
export type Route = {
  /** Canonical CIDR; `0.0.0.0/0` and `::/0` for the default routes. */
  readonly destination: string;
  /** Undefined for a route without a device, such as `blackhole`, or with several. */
  readonly device: string | undefined;
  /** Who added it, `rtm_protocol`: 2 is the kernel, 3 boot, 4 static. */
  readonly protocol: number;
};

/** A route through a device, to add or delete. */
export type DeviceRoute = Route & { readonly device: string };
