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
        /// Handlers that are called when a registration ends because of a name conflict. Only a few registrations have
        /// one.
        var losses: [RegistrationID: @Sendable (DNSName) -> Void] = [:]
        var host: HostName
        /// The network state of this host, which the engine follows while multicast DNS is in use; otherwise `nil`.
        var network: FollowedNetwork?
        var sleep = SleepState()
        var timer: (id: TimerID, due: Duration)?
        var isPerforming = false
        /// Whether the loop has been asked to call the engine again. The engine then processes more responses, after
        /// other events.
        var isReading = false
        /// The completion handlers of withdrawals. They are called when the goodbye messages have been sent.
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

        /// Chooses another host name after a conflict, because another host keeps the current name.
        mutating func rename() { self = HostName(BonjourNames.nextHost(after: label)) }
    }

    /// The functions and objects with which the engine uses the network of the host.
    struct NetworkAccess: Sendable {
        /// The event loop on which the network state is read. Reading can block.
        var loop: any EventLoop
        var changes: NetworkChangeMonitor
        /// Returns the current network state; `nil` if the kernel does not answer.
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
        /// Whether the engine has already read the network once. If so, a link that appears in the next reading came up
        /// only a short time before that reading.
        var hasLooked = false
        /// The time at which the engine closes the unused links; `nil` while links are in use.
        var restDue: Duration?
        /// The timer for reading the network again after a reading failed or a socket could not be opened.
        var retry: TimerID?
    }

    /// The machine's sleep state, and the way in which the engine learns about it.
    struct SleepState {
        enum Phase {
            case awake
            /// The machine is about to sleep. Goodbyes were sent, or sleep proxies now represent this host.
            case asleep
        }

        private(set) var phase = Phase.awake
        /// Whether sleep proxies answer while the machine sleeps.
        var usesProxies = false
        /// The sequence number in the EDNS owner option, which identifies this host to a sleep proxy. The number
        /// changes with each wake-up.
        private(set) var wakeups = UInt8.random(in: .min ... .max)
        /// Wakes the loop when the machine has resumed from sleep. Without it, the loop would sleep until the next
        /// timer.
        private var resumption: ResumptionWatch?
        /// Receives the system's notification that this computer is about to sleep.
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

        /// Returns whether the machine has slept for more than a second since the previous call. If so, changes the
        /// sleep phase to `awake`.
        mutating func hasSlept(_ total: Duration) -> Bool {
            defer { slept = total }
            guard total - slept > .seconds(1) else { return false }
            phase = .awake
            return true
        }

        mutating func wokeUp() { wakeups &+= 1 }
    }
}
