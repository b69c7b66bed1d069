import Network

let browser = NWBrowser(for: .bonjour(type: "_greeting._tcp", domain: nil), using: .tcp)
