internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// Establishes an outbound connection. Runs the attempts and the handshakes above the transport, and chooses the next
/// attempt.
extension ConnectionDriver {
    /// Calls `body` with all DNS answers and attempts of the establishment so far. Calls it with `nil` if the
    /// establishment has not begun.
    ///
    /// - Parameter body: Called on any thread.
    package func reportProgress(_ body: @escaping @Sendable (EstablishmentFacts?) -> Void) {
        let (connector, known) = progress.withLock { progress in
            let history = progress.establishments.first?.history
            return (progress.connector, history?.facts ?? history?.defeat)
        }
        if let connector { connector.report { body($0) } } else { body(known) }
    }

    func establish() {
        let (connector, plan) = progress.withLock { progress -> (Connector?, RoutePlan?) in
            guard case .connect(let target, let resolver) = progress.origin, progress.mayConnect else {
                return (nil, nil)
            }
            if isContentAwaited, progress.firstContent != .present {
                progress.firstContent = .awaited
                return (nil, nil)
            }
            let plan = frozen.planner == nil ? nil : RoutePlan()
            let connector = plan == nil ? makeConnector(frozen.routes.first?.target ?? target, resolver) : nil
            progress.establish(connector.map { Activity.connecting($0) } ?? .idle)
            // Each establishment begins again with the first route.
            progress.establishments[0].routes.rewind(with: plan)
            progress.establishments[0].history.began(at: System.now)
            return (connector, plan)
        }
        if let connector { start(connector) }
        if let planner = frozen.planner { plan?.begin(planner, on: flow.loop) { plan in self.planned(plan) } }
    }

    /// The maximum number of content bytes to offer for the first packet.
    ///
    /// The kernel sends as many of them as fit into the SYN packet.
    private static let maximumEarlyContent = 4 << 10

    /// Starts the connector of this establishment. The caller must not hold the lock.
    ///
    /// The reason is that a message may already have expired. The flow then calls the message's completion handler, in
    /// which the program may use the connection.
    private func start(_ connector: Connector) {
        let mayBeEarly = isContentAwaited && frozen.makeLayers == nil
        connector.start(early: mayBeEarly ? flow.earlyContent(atMost: Self.maximumEarlyContent) : Data())
    }

    /// Starts a connector to the target that `choose` returns. Starts none if `choose` returns `nil` or the connection
    /// is ending. Returns whether a connector was started.
    ///
    /// - Parameter choose: Runs while the driver's lock is held. Receives the current establishment, and may change it.
    func connect(_ choose: (inout Establishment) -> Connector.Target?) -> Bool {
        let connector = progress.withLock { progress -> Connector? in
            guard case .connect(_, let resolver) = progress.origin, progress.mayConnect,
                !progress.establishments.isEmpty, let target = choose(&progress.establishments[0])
            else { return nil }
            let connector = makeConnector(target, resolver)
            progress.establishments[0].activity = .connecting(connector)
            return connector
        }
        guard let connector else { return false }
        start(connector)
        return true
    }

    /// Creates a connector. It does nothing until the caller starts it.
    private func makeConnector(_ target: Connector.Target, _ resolver: any NameResolver) -> Connector {
        Connector(target, settings, on: flow.loop, resolver: resolver) { outcome, facts in
            switch outcome {
            case .success(let winner): self.established(winner)
            case .failure(let error):
                self.progress.withLock { progress in
                    _ = progress.takeConnector()
                    progress.noteDefeat(facts)
                    progress.countAttempts(facts.attemptCount)
                }
                if self.takeNextRoute() { return }
                let reason = self.reason(to: error)
                self.transition { progress in progress.lifecycle.endpointsExhausted(reason) }
            }
        }
    }

    func leaveEndpoint() {
        let (connector, plan) = progress.withLock { progress in
            (progress.connector, progress.establishments.first?.routes.plan)
        }
        if let connector {
            connector.skip()
        } else if let plan, plan.isUnderWay {
            plan.cancel()
            transition { progress in
                progress.lifecycle.endpointsExhausted(Failure(errno: Errno.connectionAborted))
            }
        } else {
            flow.detach(abandoning: channel == nil ? nil : Failure(errno: Errno.connectionAborted))
        }
    }

    /// Tries the remaining addresses after the current endpoint failed or was abandoned. Then tries the next route.
    func tryNext(_ reason: Failure?) {
        let disagreement = progress.withLock { progress in
            progress.establishments.isEmpty ? nil : progress.establishments[0].disagreement.take()
        }
        if let disagreement {
            if takeNextRoute() { return }
            return transition { progress in progress.lifecycle.endpointsExhausted(disagreement) }
        }
        if connect({ $0.untried.isEmpty ? nil : .addresses($0.untried) }) || takeNextRoute() { return }
        transition { progress in
            progress.lifecycle.endpointsExhausted(reason ?? Failure(errno: Errno.connectionAborted))
        }
    }

    func established(_ winner: Connector.Winner) {
        let registration: Registration
        do throws(SystemError) {
            if let known = winner.registration {
                registration = known
            } else {
                registration = try flow.loop.register(winner.fd, for: flow.interest, flow)
            }
        } catch {
            Descriptor(adopting: winner.fd).close()
            return transition { progress in progress.lifecycle.endpointsExhausted(Failure(errno: error.errno)) }
        }
        let channel = channel
        if let association = winner.association { hold(association) }
        flow.attach(
            .socket(winner.fd, registration), owner: self, isProvisional: channel != nil, sentEarly: winner.sentEarly)
        if winner.registration != nil { flow.loop.hand(registration, winner.fd, to: flow, for: flow.interest) }
        transition { progress in
            progress.establish(.idle, winner.facts, untried: winner.untried)
            progress.countAttempts(winner.facts.previousAttempts + 1)
            return channel == nil ? progress.lifecycle.established() : []
        }
        winner.association?.watch { [weak self] failure in self?.flow.fail(failure) }
        guard let channel else { return }
        flow.begin()
        beginHandshake(channel)
    }

    // MARK: Protocols above the transport

    func beginHandshake(_ channel: StackChannel) {
        guard let makeLayers = route?.makeLayers ?? frozen.makeLayers else { return }
        switch makeLayers(flow) {
        case .success(let layers):
            let limit = frozen.openings == nil ? settings.handshakeLimit : settings.acceptedHandshakeLimit
            channel.begin(layers, within: limit, among: frozen.openings) { outcome in
                self.stackReported(outcome, channel)
            }
        case .failure(let failure): stackReported(.failed(failure), channel)
        }
    }

    func stackReported(_ outcome: StackChannel.Outcome, _ channel: StackChannel) {
        switch outcome {
        case .ready:
            flow.confirm()
            let (received, sent) = flow.transferred
            let information = flow.withDescriptor { try? TCPInformation(of: $0) }.flatMap { $0 }
            transition { progress in
                progress.noteAgreement(.init(information: information, received: received, sent: sent))
                return progress.lifecycle.established()
            }
        case .ended: ended()
        case .failed(let failure):
            // If the program's own protocol reports a failure, the failure is final. The connection fails at once, as a
            // ready connection does, and does not try the next address.
            if channel.delegates.contains(where: { $0.hasGivenUp }) {
                flow.confirm()
                return flow.fail(failure)
            }
            let mayWait = progress.withLock { progress in
                guard case .connect = progress.origin, case .preparing = progress.lifecycle.state,
                    !progress.establishments.isEmpty
                else { return false }
                progress.establishments[0].disagreement = failure
                return true
            }
            // An outbound connection that is not ready yet can survive a failed handshake. It can use another route. It
            // can also wait and try again, because the network or the peer's certificate may change. All other
            // connections fail.
            if mayWait { flow.detach(abandoning: failure) } else { flow.fail(failure) }
        }
    }
}
