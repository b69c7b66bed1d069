internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

extension Connector {
    struct Progress {
        var phase: Phase
        var target: Target
        /// Content that each connection attempt sends in its first packet.
        var early = Data()
        var race: SocketRace
        /// The most informative failure so far.
        var failure: Failure?
        var facts = EstablishmentFacts()
        /// The pending name lookup. It looks up the target's addresses, or the address prefix of the network's NAT64
        /// translator.
        var lookup: (any NameResolving)?
        var translation = Translation.unused
        /// The relay that the proxy provides for datagrams; `nil` if there is none.
        var association: (any DatagramRelay)?
        /// The races over other network interfaces. They can start if the race over the default interface takes long or
        /// fails.
        var fallbacks: InterfaceFallbacks
    }

    enum Phase {
        case idle(Completion)
        case running(Completion)
        /// The race was cancelled, or its outcome was reported. Answers and events that arrive later change nothing.
        case ended

        var isRunning: Bool { if case .running = self { true } else { false } }

        /// Returns whether the connector may begin: `false` if it was already cancelled.
        mutating func begin() -> Bool {
            guard case .idle(let completion) = self else { return false }
            self = .running(completion)
            return true
        }

        mutating func end() -> Completion? {
            defer { self = .ended }
            switch self {
            case .idle(let completion), .running(let completion): return completion
            case .ended: return nil
            }
        }
    }
}
