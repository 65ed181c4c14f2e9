/** The two clusters and who reads and writes what, at most 80 columns wide. */
export const picture: readonly string[] = `
  cluster c1                                        cluster c2
┌────────────────────────────┐                    ┌───────────────────────────┐
│  semaphore-policy ─────────┼── watches Pods ───▶│  Pods                     │
│    │ writes                │                    │                           │
│    ▼                       │                    │                           │
│  GlobalNetworkSets c2-…    │                    │  GlobalNetworkSets c1-…   │
│                            │                    │    ▲                      │
│                            │                    │    │ writes               │
│  Pods                      │◀── watches Pods ───┼─ semaphore-policy         │
│                            │                    │                           │
│  semaphore-service-mirror ─┼─ watches Services ▶│  Services, EndpointSlices │
│    │ writes                │                    │                           │
│    ▼                       │                    │                           │
│  Services c2-…, gl-…       │                    │                           │
│                            │                    │                           │
│  semaphore-wireguard ◀═════╪══════ packets ═════╪═▶ semaphore-wireguard     │
└────────────────────────────┘                    └───────────────────────────┘
`
  .trim()
  .split('\n');
