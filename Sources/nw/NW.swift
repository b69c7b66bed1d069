import ArgumentParser
import CausewayTypes

/// The root command of the tool.
struct NW: AsyncParsableCommand {
    static let name = "nw"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Network connections from the command line, through Causeway.",
        discussion: """
            Examples:
              nw demo                                  everything at work, in one process
              nw cat example.com 80                    talk to a server by hand
              nw cat -l 9000 > copy                    store what one client sends
              nw cat --tls example.com 443             the same through TLS; wss://... for a WebSocket
              nw chat -l 9000                          wait for somebody to talk with, line by line
              nw serve echo --port 7000                an echo server
              nw echo 127.0.0.1 7000                   measure round trips to it
              nw receive inbox --port 9100             accept files into the folder `inbox`
              nw send notes.txt photo.jpg host 9100    send two files over one connection
              nw group 239.7.7.7 7777                  talk to a multicast group
              nw interfaces --json                     addresses, gateways and DNS servers
              nw path --watch                          the network path, and each change of it
              nw status example.com 443 --connect      which way leads to a host; a connection while cables are pulled
              nw browse                                services on the local network
              nw lookup Page._http._tcp.local          where one is: host, port, addresses
              nw register Page _http._tcp 8080         a service for others to find
              nw types                                 which types of services there are
              nw query printer.local A                 records of the local network
              nw bridge eth0 eth1 -t _http._tcp        services of one link, found on another
              nw linklocal eth0                        an address where nobody gives any
              nw doctor                                does Bonjour work here, and if not, why
              nw capture -i eth0 tcp port 80           packets as they pass
              nw read trace.pcap                       the packets of a file
              nw filter 'udp port 53'                  what a packet filter means
              nw packet udp 192.0.2.1:53               make a packet, and look at it
              nw ping example.com                      is it there, and how far
              nw trace example.com                     the routers on the way
              nw scan 192.0.2.1                        which ports are open
              nw resolve example.com                   addresses of a name, and in which order they are tried
              nw connect example.com 443 --timeline    how a connection comes about, step by step
              nw proxy https://example.com             which proxy the environment wants for it, and why
              nw tls example.com                       a server's certificates, and what is wrong with them

            Short options may be joined, and their values may follow at once: nw ping -qc3 example.com. \
            nw --generate-completion-script bash (zsh, fish) prints completions.

            Exit codes:
              0         success
              1         failure; one line on standard error says why
              2         nw tls: no TLS connection could be made
              64        wrong usage
              130, 143  ended by SIGINT or SIGTERM, where that cut something
            """,
        version: "nw \(version)",
        subcommands: commands)

    /// The version of the tool. There is no release yet.
    static let version = "0.1.0-dev"

    /// Throws if the first word is not a command. The error suggests the command with the most similar name.
    static func checkName(in arguments: [String]) throws {
        let word = arguments.first == "help" ? arguments.dropFirst().first : arguments.first
        let names = commands.compactMap { $0.outline.commandName }
        guard let word, !word.hasPrefix("-"), word != "help", !names.contains(word) else { return }
        let hint = CommandNames.closest(to: word, among: names).map { " Did you mean '\($0)'?" } ?? ""
        throw ValidationError("'\(PrintableText(foreign: word).text)' is not a command of nw.\(hint)")
    }

    static let commands: [any Subcommand.Type] = [
        BridgeCommand.self, BrowseCommand.self, CaptureCommand.self, CatCommand.self, ChatCommand.self,
        ConnectCommand.self, DemoCommand.self, DoctorCommand.self, EchoCommand.self, FilterCommand.self,
        GroupCommand.self, InterfacesCommand.self, LinkLocalCommand.self, LookupCommand.self, PacketCommand.self,
        PathCommand.self, PingCommand.self, ProxyCommand.self, QueryCommand.self, ReadCommand.self,
        ReceiveCommand.self, RegisterCommand.self, ResolveCommand.self, ScanCommand.self, SendCommand.self,
        ServeCommand.self, StatusCommand.self, TLSCommand.self, TraceCommand.self, TypesCommand.self,
    ]
}
