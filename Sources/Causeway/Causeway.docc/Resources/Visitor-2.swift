import Network

let browser = NWBrowser(for: .bonjour(type: "_greeting._tcp", domain: nil), using: .tcp)

browser.stateUpdateHandler = { state in
    if case .failed(let error) = state {
        print("cannot browse: \(error)")
        exit(1)
    }
}
browser.browseResultsChangedHandler = { results, changes in
    for result in results {
        print(result.endpoint, result.interfaces.map(\.name))
    }
}
browser.start(queue: .main)
dispatchMain()
