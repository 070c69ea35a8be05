#!/usr/bin/env perl
# SPDX-License-Identifier: Apache-2.0
#
# Writes the manual pages of Rouse from what the program says of itself:
#
#   rouse --experimental-dump-help | Deploy/man.pl VERSION DATE Deploy/rouse.yaml FOLDER
#
# rouse(1) and one page for each command come from the dump, rouse.yaml(5) from the example
# configuration. It needs nothing but Perl's own modules.
use strict;
use warnings;
use JSON::PP qw(decode_json);

die "Usage: man.pl VERSION DATE CONFIGURATION FOLDER <DUMP\n" unless @ARGV == 4;
my ($version, $date, $configuration, $folder) = @ARGV;

# Text as troff prints it: nothing in it is a request, an escape or a ligature.
sub escaped {
    my ($text) = @_;
    $text =~ s/\\/\\e/g;
    $text =~ s/-/\\-/g;
    $text =~ s/^([.'])/\\&$1/mg;
    $text =~ s/'/\\(aq/g;
    $text =~ s/`/\\(ga/g;
    $text =~ s/\^/\\(ha/g;
    $text =~ s/~/\\(ti/g;
    return $text;
}

sub header {
    my ($name, $section, $title) = @_;
    my $upper = uc escaped($name);
    return qq{.\\" Made by Deploy/man.pl; changes belong into the program's help.\n}
        . qq{.TH "$upper" "$section" "$date" "Rouse $version" "$title"\n};
}

# Lines as they stand, in an indented block without filling.
sub verbatim {
    my (@lines) = @_;
    return ".RS 4\n.nf\n" . join("\n", map { escaped($_) } @lines) . "\n.fi\n.RE\n";
}

# Paragraphs between empty lines; one that is indented keeps its lines.
sub paragraphs {
    my ($text) = @_;
    my $result = '';
    for my $paragraph (split /\n\s*\n/, $text) {
        my @lines = split /\n/, $paragraph;
        if (!grep { !/^  / } @lines) {
            $result .= ".PP\n" . verbatim(map { s/^  //r } @lines);
        } else {
            $result .= ".PP\n" . escaped(join ' ', @lines) . "\n";
        }
    }
    # A heading begins a paragraph by itself.
    return $result =~ s/^\.PP\n//r;
}

# An option's or a flag's name, as it is typed.
sub spelled {
    my ($name) = @_;
    return ($name->{kind} eq 'long' ? '--' : '-') . $name->{name};
}

# What stands before an argument's explanation.
sub tag {
    my ($argument) = @_;
    my $value = '\fI' . escaped($argument->{valueName} // 'value') . '\fR';
    return $value if $argument->{kind} eq 'positional';
    my @names = map { '\fB' . escaped(spelled($_)) . '\fR' } @{$argument->{names}};
    my $tag = join ', ', @names;
    return $argument->{kind} eq 'option' ? "$tag $value" : $tag;
}

sub entry {
    my ($argument) = @_;
    my @sentences = grep { defined && length } $argument->{abstract}, $argument->{discussion};
    push @sentences, "(default: $argument->{defaultValue})" if defined $argument->{defaultValue};
    push @sentences, 'May be repeated.'
        if $argument->{isRepeating} && $argument->{kind} ne 'positional';
    return ".TP\n" . tag($argument) . "\n" . escaped(join ' ', @sentences) . "\n";
}

sub synopsis {
    my ($name, $command) = @_;
    my @words = ('\fB' . escaped($name) . '\fR');
    push @words, '\fIcommand\fR' if subcommands($command);
    push @words, '[\fIoptions\fR]';
    for my $argument (grep { $_->{kind} eq 'positional' && $_->{shouldDisplay} }
        @{$command->{arguments} // []}) {
        my $word = '\fI' . escaped($argument->{valueName}) . '\fR';
        $word .= ' ...' if $argument->{isRepeating};
        push @words, $argument->{isOptional} ? "[$word]" : $word;
    }
    return join(' ', @words) . "\n";
}

# The arguments under the headings that --help has, in its order.
sub options {
    my ($command) = @_;
    my (@titles, %entries);
    for my $argument (grep { $_->{shouldDisplay} } @{$command->{arguments} // []}) {
        my $title = $argument->{sectionTitle}
            // ($argument->{kind} eq 'positional' ? 'Arguments' : 'Options');
        push @titles, $title unless exists $entries{$title};
        $entries{$title} .= entry($argument);
    }
    return join '', map { '.SH "' . uc(escaped($_)) . "\"\n" . $entries{$_} } @titles;
}

# The commands inside a command, but for the one that shows help.
sub subcommands {
    my ($command) = @_;
    return grep { $_->{shouldDisplay} && $_->{commandName} ne 'help' }
        @{$command->{subcommands} // []};
}

sub commands {
    my ($page, @commands) = @_;
    return ".SH COMMANDS\n" . join '', map {
        '.TP' . "\n\\fB" . escaped("$page-$_->{commandName}") . "\\fR(1)\n"
            . escaped($_->{abstract}) . "\n"
    } @commands;
}

my $files = <<'FILES';
.SH FILES
.TP
\fI/etc/rouse/rouse.yaml\fR
The configuration of the packaged gateway; see \fBrouse.yaml\fR(5).
.TP
\fI/var/lib/rouse/\fR
The store of the packaged gateway.
FILES

sub see_also {
    my (@names) = @_;
    return ".SH \"SEE ALSO\"\n"
        . join(",\n", map { '\fB' . escaped($_->[0]) . "\\fR($_->[1])" } @names) . "\n";
}

# The manual's page of a command.
sub page {
    my ($name, $command) = @_;
    my $page = $name =~ s/ /-/gr;
    my @commands = subcommands($command);
    my @others = map { ["$page-$_->{commandName}", 1] } @commands;
    my $parent = $name =~ s/ [^ ]+$//r =~ s/ /-/gr;
    unshift @others, [$parent, 1] if $parent ne $page;
    my $abstract = ($command->{abstract} // '') =~ s/\.$//r;
    return header($page, 1, 'User Commands')
        . ".SH NAME\n" . escaped($page) . ' \- ' . escaped($abstract) . "\n"
        . ".SH SYNOPSIS\n" . synopsis($name, $command)
        . ".SH DESCRIPTION\n" . paragraphs($command->{discussion} // $abstract)
        . (@commands ? commands($page, @commands) : '')
        . options($command)
        . ($name =~ /^rouse( serve)?$/ ? $files : '')
        . see_also(@others, ['rouse.yaml', 5]);
}

sub configuration_page {
    open my $file, '<:encoding(UTF-8)', $configuration or die "$configuration: $!\n";
    my @lines = map { chomp; $_ } <$file>;
    close $file;
    return header('rouse.yaml', 5, 'File Formats')
        . ".SH NAME\nrouse.yaml \\- configuration of the Rouse gateway\n"
        . ".SH DESCRIPTION\nThe file that \\fBrouse\\-serve\\fR(1) and "
        . "\\fBrouse\\-doctor\\fR(1) read with \\fB\\-\\-config\\fR. This is the packaged one; it "
        . "explains each key.\n"
        . ".PP\n" . verbatim(@lines)
        . $files
        . see_also(['rouse-serve', 1], ['rouse-doctor', 1]);
}

sub store {
    my ($name, $text) = @_;
    open my $file, '>:encoding(UTF-8)', "$folder/$name" or die "$folder/$name: $!\n";
    print {$file} $text;
    close $file or die "$folder/$name: $!\n";
}

# A page for a command and for each command inside it.
sub store_pages {
    my ($name, $command) = @_;
    # Only the version of the whole program is worth a line of its page.
    $command->{arguments} = [grep { ($_->{valueName} // '') ne 'version' } @{$command->{arguments}}]
        if $name ne 'rouse';
    store(($name =~ s/ /-/gr) . '.1', page($name, $command));
    store_pages("$name $_->{commandName}", $_) for subcommands($command);
}

my $dump = do { local $/; <STDIN> };
store_pages('rouse', decode_json($dump)->{command});
store('rouse.yaml.5', configuration_page());
