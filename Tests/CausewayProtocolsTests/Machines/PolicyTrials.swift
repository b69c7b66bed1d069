import CausewayProtocols
import CausewayTestKit

/// Trials of state machines that answer each event with one decision. These machines never end.
enum PolicyTrials {
    static var all: [any MachineTesting] { [pace, authentication] }

    private static var pace: any MachineTesting {
        MachineTrial("ArrivalPace", model: ()) { _ in
            ArrivalPace()
        } event: { pace, _, now, random in
            switch random.integer(in: 0...8) {
            case 0...3: return [pace.arrived(at: now)]
            case 4...7: return [pace.wasRead(random.integer(in: 0...200), at: now)]
            default:
                pace.sent()
                return []
            }
        }.untimed()
    }

    private static let challenges = [
        "Basic realm=\"a\"", "Digest realm=\"a\", nonce=\"n\"", "Digest realm=\"a\", nonce=\"o\", stale=true",
        "NTLM QUFB", "Negotiate", "Unknown x=y", "=,\"",
    ]

    private static var authentication: any MachineTesting {
        MachineTrial("AuthenticationAttempts", model: [ProtectionSpace]()) { random in
            AuthenticationAttempts(limit: random.integer(in: 0...20))
        } event: { attempts, spaces, _, random in
            let proxy = ProtectionSpace.Authority.proxy(host: "h", port: UInt16(random.integer(in: 1...2)))
            switch random.integer(in: 0...8) {
            case 0: attempts.redirected()
            case 1: return [attempts.refused(bySOCKS: proxy)]
            case 2...4: if let space = spaces.randomElement(using: &random) { attempts.answered(space) }
            default:
                let values = (0...random.integer(in: 0...2)).map { _ in challenges[random.integer(in: 0...6)] }
                return [
                    attempts.refused(
                        by: proxy, challenges: values, schemes: random.chance(oneIn: 2) ? [.ntlm] : [],
                        answersTokens: random.chance(oneIn: 2))
                ]
            }
            return []
        }.noting { spaces, step in
            switch step {
            case .offer(let offers): spaces += offers.map(\.space)
            case .renew(let offer): spaces.append(offer.space)
            case .deliver: break
            }
        }.untimed()
    }
}
