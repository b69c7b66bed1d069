extension PeerMesh {
    /// Starts a code comparison with a member. ``PeerAction/verification(_:_:)`` follows on both sides.
    package mutating func verify(_ member: MemberID, at now: Duration) {
        let nonce = randomBytes(VerificationMachine.nonceByteCount)
        perform(withVerification(member) { $0.start(nonce: nonce) }, member, at: now)
    }

    /// Reports the result of the user's comparison: whether both codes are equal.
    package mutating func confirm(_ member: MemberID, matches: Bool, at now: Duration) {
        perform(withVerification(member) { $0.confirm(matches: matches) }, member, at: now)
    }

    mutating func handleVerification(_ frame: PeerFrame, from member: MemberID, at now: Duration) throws(PeerFields
        .Malformed)
    {
        let nonce = randomBytes(VerificationMachine.nonceByteCount)
        guard var machine = verification(of: member) else { return }
        let steps = try machine.received(frame, nonce: nonce)
        self[member]?.verification = machine
        perform(steps, member, at: now)
    }

    private func verification(of member: MemberID) -> VerificationMachine? {
        guard let found = self[member], found.phase.isConnected else { return nil }
        return found.verification
            ?? VerificationMachine(
                VerificationMachine.Binding(exporter: found.exporter, own: own.key, other: member.peer))
    }

    private mutating func withVerification(
        _ member: MemberID, _ body: (inout VerificationMachine) -> [VerificationMachine.Action]
    ) -> [VerificationMachine.Action] {
        guard var machine = verification(of: member) else { return [] }
        let steps = body(&machine)
        self[member]?.verification = machine
        return steps
    }

    private mutating func perform(_ steps: [VerificationMachine.Action], _ member: MemberID, at now: Duration) {
        for step in steps {
            switch step {
            case .send(let frame): enqueue(frame, to: member, at: now)
            case .report(let event):
                actions.append(.verification(member, event))
                if event == .verified { record(member, isPaired: true) }
                if event == .failed { fail(member, .notVerified, farewell: true, at: now) }
            }
        }
    }
}
