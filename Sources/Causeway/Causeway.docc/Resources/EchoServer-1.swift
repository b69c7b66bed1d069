import Network

let queue = DispatchQueue(label: "echo")
let listener = try NWListener(using: .tcp, on: 7000)
