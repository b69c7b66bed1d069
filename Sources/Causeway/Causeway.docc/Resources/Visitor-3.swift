import Network

let browser = NWBrowser(for: .bonjour(type: "_greeting._tcp", domain: nil), using: .tcp)

browser.stateUpdateHandler = { state in
    if case .failed(let error) = state {
        print("cannot browse: \(error)")
        exit(1)
    }
}
browser.browseResultsChangedHandler = { results, _ in
    guard let first = results.first else { return }
    browser.cancel()
    visit(first.endpoint)
}
browser.start(queue: .main)

@Sendable func visit(_ endpoint: NWEndpoint) {
    print("connecting to \(endpoint)")
    let connection = NWConnection(to: endpoint, using: .tcp)
    connection.stateUpdateHandler = { state in
        if case .waiting(let error) = state { print("not reachable now: \(error)") }
    }
    connection.start(queue: .main)
}

dispatchMain()
