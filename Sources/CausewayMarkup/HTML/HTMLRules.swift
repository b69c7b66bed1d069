/// Safe names in an HTML fragment.
///
/// All other names are removed: new browser elements and attributes count as unsafe until their effect is known.
enum HTMLRules {
    /// Permitted elements.
    static let elements = set(
        """
        a abbr acronym address area article aside audio b big blockquote br button canvas caption center cite code col colgroup \
        command datagrid datalist dd del details dfn dialog dir div dl dt em event-source fieldset figcaption figure font \
        footer form h1 h2 h3 h4 h5 h6 header hr i img input ins kbd keygen label legend li m main map mark menu meter multicol \
        nav nextid ol optgroup option output p pre progress q s samp section select small sound source spacer span \
        strike strong sub summary sup table tbody td textarea tfoot th thead time tr tt u ul var video
        """)

    /// Elements without content and end tag.
    static let voidElements = set(
        """
        area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr
        """)

    /// Elements to remove with their content.
    static let droppedElements = set(
        """
        script applet style
        """)

    /// Elements whose tags are removed. Browsers that run scripts read the content of `noscript` as text.
    static let unwrappedElements = set("noscript")

    /// Inline elements. Their tags do not separate words.
    static let inlineElements = set(
        """
        a abbr acronym b big cite code del dfn em font i ins kbd mark q s samp small span strike strong sub sup tt u var
        """)

    /// Permitted attributes.
    static let attributes = set(
        """
        abbr accept accept-charset accesskey action align alt autocomplete autofocus axis background balance bgcolor \
        bgproperties border bordercolor bordercolordark bordercolorlight bottompadding cellpadding cellspacing ch challenge \
        char charoff charset checked choff cite class clear cols colspan color compact contenteditable controls coords data \
        datafld datapagesize datasrc datetime default delay dir disabled draggable dynsrc enctype end face for form frame \
        galleryimg gutter headers height hidden hidefocus high href hreflang hspace icon id inputmode ismap keytype label lang \
        leftspacing list longdesc loop loopcount loopend loopstart low lowsrc max maxlength media method min multiple name \
        nohref noshade nowrap open optimum pattern ping point-size poster pqg preload prompt radiogroup readonly rel repeat-max \
        repeat-min replace required rev rightspacing rows rowspan rules scope selected shape size span src start step summary \
        suppress tabindex target template title toppadding type unselectable urn usemap valign value variable volume vrml \
        vspace width wrap xml:lang
        """)

    /// Attributes whose value is a reference.
    static let references = set(
        """
        action background cite codebase data datasrc dynsrc formaction href icon longdesc lowsrc ping poster profile src usemap \
        xlink:href xml:base
        """)

    /// Pairs of an element and an attribute whose URL is made absolute. In other attributes, only the URL's scheme is
    /// checked.
    static let resolved: Set<String> = [
        "a href", "applet codebase", "area href", "audio src", "blockquote cite", "body background", "del cite",
        "form action",
        "frame longdesc", "frame src", "iframe longdesc", "iframe src", "head profile", "img longdesc", "img src",
        "img usemap",
        "input src", "input usemap", "ins cite", "link href", "object classid", "object codebase", "object data",
        "object usemap",
        "q cite", "script src", "source src", "video poster", "video src",
    ]

    /// Permitted SVG elements.
    static let svgElements = set(
        """
        a animate animateColor animateMotion animateTransform circle defs desc ellipse font-face font-face-name font-face-src g \
        glyph hkern line linearGradient marker metadata missing-glyph mpath path polygon polyline radialGradient rect set stop \
        svg switch text title tspan use
        """)

    /// Permitted MathML elements. `mglyph` and `malignmark` are not permitted: they are the only elements that belong
    /// to MathML inside of ``textElements``.
    static let mathElements = set(
        """
        annotation annotation-xml maction maligngroup math menclose merror mfenced mfrac mi mlabeledtr mlongdiv mmultiscripts mn \
        mo mover mpadded mphantom mprescripts mroot mrow ms mscarries mscarry msgroup msline mspace msqrt msrow mstack mstyle \
        msub msubsup msup mtable mtd mtext mtr munder munderover none semantics
        """)

    /// SVG and MathML elements in which browsers read HTML. Only their text is kept.
    static let textElements = set("title desc mi mo mn ms mtext")

    /// The namespaces of SVG and MathML.
    static let namespaces = ["svg": "http://www.w3.org/2000/svg", "math": "http://www.w3.org/1998/Math/MathML"]

    /// The namespace of XLink.
    static let linkNamespace = "http://www.w3.org/1999/xlink"

    /// Permitted SVG and MathML attributes.
    static let foreignAttributes = set(
        """
        accent-height accumulate additive alphabetic arabic-form ascent attributeName attributeType baseProfile bbox begin by \
        calcMode cap-height class color color-rendering content cx cy d dx dy descent display dur end fill fill-opacity \
        fill-rule font-family font-size font-stretch font-style font-variant font-weight from fx fy g1 g2 glyph-name \
        gradientUnits hanging height horiz-adv-x horiz-origin-x id ideographic k keyPoints keySplines keyTimes lang marker-end \
        marker-mid marker-start markerHeight markerUnits markerWidth mathematical max min name offset opacity orient origin \
        overline-position overline-thickness panose-1 path pathLength points preserveAspectRatio r refX refY repeatCount \
        repeatDur requiredExtensions requiredFeatures restart rotate rx ry slope stemh stemv stop-color stop-opacity \
        strikethrough-position strikethrough-thickness stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin \
        stroke-miterlimit stroke-opacity stroke-width systemLanguage target text-anchor to transform type u1 u2 \
        underline-position underline-thickness unicode unicode-range units-per-em values version viewBox visibility width \
        widths x x-height x1 x2 xlink:actuate xlink:arcrole xlink:href xlink:role xlink:show xlink:title xlink:type xml:base \
        xml:lang xml:space xmlns xmlns:xlink y y1 y2 zoomAndPan actiontype align columnalign columnlines columnspacing \
        columnspan depth encoding equalcolumns equalrows fence fontstyle fontweight frame linethickness lspace mathbackground \
        mathcolor mathvariant maxsize minsize other rowalign rowlines rowspacing rowspan rspace scriptlevel selection separator \
        separators stretchy bevelled close notation open src symmetric
        """)

    /// Returns whether an animation may change an attribute. An animation may change only attributes for which every
    /// value is permitted.
    static func mayAnimate(_ name: String) -> Bool { foreignAttributes.contains(name) && !references.contains(name) }

    /// CSS properties that are permitted with every harmless value.
    static let styles = set(
        """
        azimuth background background-color border-bottom-color border-collapse border-color border-left-color \
        border-right-color border-top-color clear color cursor direction display elevation float font font-family font-size \
        font-style font-variant font-weight height letter-spacing line-height overflow pause pause-after pause-before pitch \
        pitch-range richness speak speak-header speak-numeral speak-punctuation speech-rate stress text-align text-decoration \
        text-indent unicode-bidi vertical-align voice-family volume white-space width fill fill-opacity fill-rule stroke \
        stroke-linecap stroke-linejoin stroke-opacity stroke-width
        """)

    /// Permitted keywords in the values of background, border, margin and padding properties that are not in
    /// ``styles``.
    static let styleKeywords = set(
        """
        auto aqua black block blue bold both bottom brown center collapse dashed dotted fuchsia gray green !important italic \
        left lime maroon medium none navy normal nowrap olive pointer purple red right solid silver teal top transparent \
        underline white yellow
        """)

    static func set(_ names: String) -> Set<String> { Set(names.split(separator: " ").map(String.init)) }
}
