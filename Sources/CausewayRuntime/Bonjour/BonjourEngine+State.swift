internal import CausewayBonjourProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

extension BonjourEngine {
    struct State {
        var links: [Int: LinkDriver] = [:]
        var asking: [QuestionID: Asking] = [:]
        var advertising: [RegistrationID: Advertising] = [:]
        /// Handlers to call if a registration ends because of a name conflict. Only a few registrations have a handler.
        var losses: [RegistrationID: @Sendable (DNSName) -> Void] = [:]
        var host: HostName
        /// The network while it is monitored; `nil` while multicast DNS is not in use.
        var network: FollowedNetwork?
        var sleep = SleepState()
        var timer: (id: TimerID, due: Duration)?
        var isPerforming = false
        /// Whether the loop will continue to process responses after it has handled other events.
        var isReading = false
        /// Completion handlers for withdrawals, called when the goodbyes are sent.
        var departures: [@Sendable () -> Void] = []
    }

    /// This host's name, shared by all its services.
    struct HostName {
        private(set) var label: String
        private(set) var name: DNSName

        init(_ label: String) {
            self.label = label
            name = DNSName(label, in: .local) ?? "linux.local"
        }

        /// Chooses another name, because another host keeps this name after a conflict.
        mutating func rename() { self = HostName(BonjourNames.nextHost(after: label)) }
    }

    /// The engine's access to the host's network.
    struct NetworkAccess: Sendable {
        /// The loop on which the network state is read, because reading it can block.
        var loop: any EventLoop
        var changes: NetworkChangeMonitor
        /// Reads the network state; `nil` if the kernel does not answer.
        var read: @Sendable () -> NetworkSnapshot?
        var open: MulticastSocket.Opener

        static var live: NetworkAccess {
            NetworkAccess(
                loop: Engine.networkLoop, changes: .shared, read: { try? NetworkSnapshot.current() },
                open: MulticastSocket.opened)
        }
    }

    struct FollowedNetwork {
        let watch: NetworkChangeMonitor.Subscription
        /// Whether another process already used port 5353 when monitoring started.
        let sharesPort: Bool
        /// Whether an earlier network snapshot exists. If so, a link that is new in the next snapshot has just come up.
        var hasLooked = false
        /// When to close the unused links; `nil` while links are in use.
        var restDue: Duration?
        /// The timer for reading the network again after a reading failed or a socket could not be opened.
        var retry: TimerID?
    }

    /// Whether the machine sleeps, and how the engine learns about it.
    struct SleepState {
        enum Phase {
            case awake
            /// The machine is about to sleep: goodbyes were sent, or sleep proxies represent this host.
            case asleep
        }

        private(set) var phase = Phase.awake
        /// Whether sleep proxies answer while the machine sleeps.
        var usesProxies = false
        /// The sequence number in the EDNS owner option, which identifies this host to a sleep proxy. The number
        /// changes with each wake-up.
        private(set) var wakeups = UInt8.random(in: .min ... .max)
        /// Makes the loop run after the machine wakes up, even if no timer is due.
        private var resumption: ResumptionWatch?
        /// Receives notifications that the machine is about to sleep.
        private var notices: BusWatch<SleepNotices>?
        /// The machine's total sleep time since boot, as of the latest check.
        private var slept: Duration = .zero

        var isAsleep: Bool { phase == .asleep }

        mutating func follow(_ resumption: ResumptionWatch?, _ notices: BusWatch<SleepNotices>?, slept: Duration) {
            (self.resumption, self.notices, self.slept) = (resumption, notices, slept)
        }

        mutating func stopFollowing() {
            resumption.take()?.stop()
            notices.take()?.cancel()
            phase = .awake
        }

        /// Changes the sleep phase. Returns whether the new phase differs from the old phase.
        mutating func changed(to next: Phase) -> Bool {
            defer { phase = next }
            return phase != next
        }

        /// Returns whether the machine slept for more than a second since the previous call. If so, the sleep phase
        /// becomes `awake`.
        mutating func hasSlept(_ total: Duration) -> Bool {
            defer { slept = total }
            guard total - slept > .seconds(1) else { return false }
            phase = .awake
            return true
        }

        mutating func wokeUp() { wakeups &+= 1 }
    }
}
