import CausewayPeers
import CausewaySystem
import CausewayTypes
import Foundation

/// The part of `nw peers doctor` that tests discovery and connection. It advertises a test peer under a separate
/// service type, browses for this peer, and connects to it.
///
/// Under the checked service type it only browses. Otherwise programs would discover the test peer and try to join it.
struct LinkCheck: Sendable {
    let service: String
    let limit: Duration

    /// The results of the checks, and the names of other peers with the checked service.
    struct Findings: Sendable {
        var others: [String] = []
        var steps: [PeersDoctor.Step] = []
    }

    func run() async -> Findings {
        let (one, other, listing): (PeerSession, PeerSession, PeerSession)
        do {
            var advertising = PeerSession.Options()
            advertising.browses = false
            var browsing = PeerSession.Options()
            browsing.advertises = false
            let type = PeersTask.doctorType
            one = try PeerSession(as: .rotating(named: "nw-doctor"), service: type, options: advertising)
            other = try PeerSession(as: .rotating(named: "nw-doctor"), service: type, options: browsing)
            listing = try PeerSession(as: .rotating(named: "nw-doctor"), service: service, options: browsing)
        } catch {
            return Findings(steps: [
                .fault("engine", "a peer cannot be made: \(error.message)", "install OpenSSL 3 (libssl)")
            ])
        }
        let accepting = Task {
            for try await case .invited(let invite) in one.events {
                if invite.peer == other.me { invite.accept() } else { invite.decline() }
            }
        }
        defer { accepting.cancel() }
        let foreign = ForeignServices(service: service)
        var findings = Findings()
        let seen = await find(one.me, other, listing, &findings)
        if let step = foreign.step() { findings.steps.append(step) }
        if seen { findings.steps.append(await connect(one.me, other)) }
        return findings
    }

    /// Browses for the test peer that `nw peers doctor` itself advertises. Ends one second after it has found this
    /// peer, or at the time limit. Returns whether the peer was found.
    private func find(
        _ own: PeerIdentity, _ session: PeerSession, _ listing: PeerSession, _ findings: inout Findings
    ) async -> Bool {
        let (found, listed) = (LockedList(), LockedList())
        let watching = [(session, found), (listing, listed)].map { session, list in
            Task { for try await case .found(let peer, _) in session.events { list.add(peer) } }
        }
        let end = ContinuousClock.now + limit
        // Wait one second longer, because other peers that are present answer within a second.
        var settled = end
        while ContinuousClock.now < min(end, settled) {
            if settled == end, found.all.contains(own) { settled = min(end, ContinuousClock.now + .seconds(1)) }
            guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { break }
        }
        for task in watching { task.cancel() }
        let isSeen = found.all.contains(own)
        findings.others = listed.all.filter { $0 != own }.map { "\($0)" }.sorted()
        findings.steps.append(
            isSeen
                ? PeersDoctor.Step(check: "discovery", outcome: .passed, what: "the own peer was found", remedy: nil)
                : .fault(
                    "discovery", "the own peer was not found within \(limit.components.seconds) seconds",
                    "check the steps above; multicast DNS must be possible on one interface"))
        let doctors = found.all.count { $0 != own }
        if doctors > 0 {
            findings.steps.append(
                PeersDoctor.Step(
                    check: "hosts", outcome: .passed, what: "other runs of nw peers doctor were found: \(doctors)",
                    remedy: nil))
        }
        if isSeen, findings.others.isEmpty, doctors == 0 {
            findings.steps.append(
                PeersDoctor.Step(
                    check: "peers", outcome: .note, what: "no other peer of \(service) was found",
                    remedy:
                        "run nw peers doctor on the other host; check that both are on one network, without client isolation"
                ))
        }
        return isSeen
    }

    private func connect(_ own: PeerIdentity, _ session: PeerSession) async -> PeersDoctor.Step {
        do {
            try await session.invite(own, within: limit)
            return PeersDoctor.Step(
                check: "connection", outcome: .passed, what: "the own peer was connected with TLS 1.3", remedy: nil)
        } catch {
            let reason = (error as? PeerFailure)?.message ?? "\(error)"
            return .fault(
                "connection", "the own peer was found, but cannot be connected: \(reason)",
                "accept TCP connections to the ports that programs choose (see /proc/sys/net/ipv4/ip_local_port_range)")
        }
    }

    private final class LockedList: Sendable {
        private let peers = LockedValue<[PeerIdentity]>([])
        var all: [PeerIdentity] { peers.withLock { $0 } }
        func add(_ peer: PeerIdentity) { peers.withLock { $0.append(peer) } }
    }
}
