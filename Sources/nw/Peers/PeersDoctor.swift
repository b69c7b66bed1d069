import ArgumentParser
import CausewayPeers
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import Foundation

/// `nw peers doctor`: explains step by step why a service's peers do not find each other.
struct PeersDoctor: Sendable {
    /// One check and its result.
    struct Step: Encodable, Sendable {
        enum Outcome: String, Encodable, Sendable {
            case passed, note, fault
        }

        /// The check's name.
        var check: String
        var outcome: Outcome
        /// What the check found.
        var what: String
        /// Advice on how to fix the problem.
        var remedy: String?

        static func fault(_ check: String, _ what: String, _ remedy: String) -> Step {
            Step(check: check, outcome: .fault, what: what, remedy: remedy)
        }
    }

    private struct Report: Encodable {
        var service: String
        var peers: [String]
        var steps: [Step]
    }

    let service: String
    let limit: Duration

    func run(isJSON: Bool) async throws {
        var steps = try hostSteps()
        let snapshot = try? NetworkSnapshot.current()
        if let found = snapshot?.multicastInterfaces, !found.isEmpty, found.allSatisfy(\.isLoopback) {
            steps.append(
                .fault(
                    "network", "this host is in no network", "connect it, and list the interfaces with: nw interfaces"))
        }
        steps.append(clock(Date()))
        steps.append(storedKeys())
        let link = await LinkCheck(service: service, limit: limit).run()
        steps += link.steps
        let report = Report(service: service, peers: link.others, steps: steps)
        printLine(isJSON ? PrintableText(json: report, isIndented: true) : text(report))
        if steps.contains(where: { $0.outcome == .fault }) { throw ExitCode.failure }
    }

    // MARK: Host

    /// Checks the interfaces, the multicast DNS port and the firewalls, as `nw doctor` does.
    private func hostSteps() throws -> [Step] {
        var diagnosis = BonjourDiagnosis()
        var steps: [Step] = []
        func add(
            _ check: String, _ summary: (BonjourDiagnosis) -> String, _ body: (inout BonjourDiagnosis) throws -> Void
        )
            rethrows
        {
            let before = diagnosis.findings.count
            try body(&diagnosis)
            let findings = diagnosis.findings[before...]
            if !findings.contains(where: \.isObstacle) {
                steps.append(Step(check: check, outcome: .passed, what: summary(diagnosis), remedy: nil))
            }
            steps += findings.map {
                Step(check: check, outcome: $0.isObstacle ? .fault : .note, what: $0.what, remedy: $0.remedy)
            }
        }
        try add("interfaces", { "multicast is possible on " + $0.interfaces.joined(separator: " ") }) {
            try $0.checkInterfaces()
        }
        add("port", { $0.portHolders.isEmpty ? "UDP port 5353 is free" : "UDP port 5353 can be shared" }) {
            $0.checkPort()
        }
        let rules = FirewallRules.visible()
        let dropping = rules.flatMap { FirewallRules.dropping(5_353, in: $0) }
        if let rule = dropping.first {
            steps.append(
                .fault(
                    "firewall", "a rule drops UDP port 5353: \(rule)", "remove the rule, or accept UDP port 5353 first")
            )
        } else if rules.isEmpty {
            add("firewall", { _ in "no firewall is visible" }) { $0.checkFirewalls() }
        } else {
            steps.append(Step(check: "firewall", outcome: .passed, what: "no rule drops UDP port 5353", remedy: nil))
        }
        return steps
    }

    /// Checks that the year on this host's clock is plausible, because pairing texts expire. The dates in peer
    /// certificates are not checked, so they do not depend on the clock.
    func clock(_ now: Date) -> Step {
        let year = Calendar(identifier: .gregorian).component(.year, from: now)
        guard (2_025...2_100).contains(year) else {
            return .fault(
                "clock", "the clock shows the year \(year): pairing texts expire at once or never",
                "set the clock, for example with: timedatectl set-ntp true")
        }
        return Step(check: "clock", outcome: .passed, what: "the clock shows the year \(year)", remedy: nil)
    }

    /// Checks that this user's keys and the recorded peer keys can be read, and that only this user can read the keys.
    private func storedKeys() -> Step {
        do throws(PeerFailure) {
            let count = try PeerPinStore(service: service).pins().count
            try LocalKeys.check()
            return Step(
                check: "keys", outcome: .passed, what: "the stored keys are private; \(count) peers are known",
                remedy: nil)
        } catch {
            let parts = error.message.split(separator: ":", maxSplits: 1).map { String($0) }
            let remedy = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : nil
            return .fault("keys", parts.first ?? "", remedy ?? "check the owner and the mode of the folder")
        }
    }

    // MARK: Output

    private func text(_ report: Report) -> PrintableText {
        var lines: [String] = []
        for step in report.steps {
            let mark =
                switch step.outcome {
                case .passed: "ok"
                case .note: "- "
                case .fault: "! "
                }
            lines.append("\(mark) \(step.check): \(step.what)")
            if let remedy = step.remedy { lines.append("     \(remedy)") }
        }
        lines.append(
            "peers of \(report.service): " + (report.peers.isEmpty ? "none" : report.peers.joined(separator: ", ")))
        if !report.steps.contains(where: { $0.outcome == .fault }) {
            lines.append("Peers can see this host: no fault was found.")
        }
        return PrintableText(lines: lines)
    }
}

/// The file permissions of this user's key files.
enum LocalKeys {
    /// Checks the permissions of this user's key files. Other users must not be able to read the files. This user must
    /// be able to write to their directory.
    ///
    /// - Throws: ``PeerFailure`` with code `file` and advice.
    static func check(_ directory: String? = PeerPinStore.keyDirectory) throws(PeerFailure) {
        guard let directory, let names = try names(in: directory) else { return }
        for name in names where name.hasSuffix(".pem") {
            let path = "\(directory)/\(name)"
            // A file that is missing was removed after its name was read.
            guard let permissions = try permissions(of: path) else { continue }
            guard permissions & 0o077 == 0 else {
                throw PeerFailure(.file, "\(path) can be read by others: run chmod 600 \(path)")
            }
        }
        guard FileManager.default.isWritableFile(atPath: directory) else {
            throw PeerFailure(.file, "\(directory) cannot be written: make this user its owner")
        }
    }

    /// Returns the names of the files in a directory; `nil` if there is no such directory.
    private static func names(in directory: String) throws(PeerFailure) -> [String]? {
        do throws(NWError) {
            return try DirectoryEntries.names(in: directory, beginningWith: "")
        } catch {
            if error == .posix(.ENOENT) { return nil }
            throw unreadable(directory, error)
        }
    }

    /// Returns a file's permission bits; `nil` if there is no such file.
    private static func permissions(of path: String) throws(PeerFailure) -> mode_t? {
        do throws(NWError) {
            return try DirectoryEntries.permissions(of: path)
        } catch {
            throw unreadable(path, error)
        }
    }

    private static func unreadable(_ path: String, _ error: NWError) -> PeerFailure {
        PeerFailure(
            .file, "cannot read \(path): make this user its owner, with mode 700 for folders (\(error))")
    }
}
