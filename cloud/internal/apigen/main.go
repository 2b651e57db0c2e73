// Command apigen writes the Go code of the API from its .proto files, or checks that it is current.
//
// It needs no protoc: protocompile reads the files, and the plugins are tools of this module. So whoever can build the
// registry can also change its API, without a network.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

var plugins = []string{"protoc-gen-go", "protoc-gen-go-grpc"}

func main() {
	root := flag.String("root", "api", "the folder of the .proto files, and of the code")
	check := flag.Bool("check", false, "write nothing; fail if the code is not current")
	flag.Parse()
	if err := run(context.Background(), *root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string, check bool) error {
	request, err := compile(ctx, root)
	if err != nil {
		return fmt.Errorf("compile the API: %w", err)
	}
	for _, plugin := range plugins {
		response, err := generate(ctx, plugin, request)
		if err != nil {
			return fmt.Errorf("run %s: %w", plugin, err)
		}
		for _, file := range response.File {
			path := filepath.Join(root, file.GetName())
			if err := deliver(path, []byte(file.GetContent()), check); err != nil {
				return err
			}
		}
	}
	return nil
}

// compile reads all .proto files below root, their comments included.
func compile(ctx context.Context, root string) (*pluginpb.CodeGeneratorRequest, error) {
	paths, err := filepath.Glob(filepath.Join(root, "*", "*", "*.proto"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no .proto file below %s", root)
	}
	names := make([]string, len(paths))
	for i, path := range paths {
		if names[i], err = filepath.Rel(root, path); err != nil {
			return nil, err
		}
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, err
	}
	parameter := "paths=source_relative"
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names, Parameter: &parameter}
	seen := map[string]bool{}
	var add func(file protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		// Plugins want a file after those that it imports.
		for i := range file.Imports().Len() {
			add(file.Imports().Get(i).FileDescriptor)
		}
		request.ProtoFile = append(request.ProtoFile, describe(file))
	}
	for _, file := range files {
		add(file)
	}
	return request, nil
}

func describe(file protoreflect.FileDescriptor) *descriptorpb.FileDescriptorProto {
	if result, ok := file.(linker.Result); ok {
		return result.FileDescriptorProto()
	}
	return protodesc.ToFileDescriptorProto(file)
}

func generate(ctx context.Context, plugin string, request *pluginpb.CodeGeneratorRequest) (
	*pluginpb.CodeGeneratorResponse, error,
) {
	in, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, "go", "tool", plugin)
	command.Stdin = bytes.NewReader(in)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, err
	}
	response := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(out, response); err != nil {
		return nil, err
	}
	if response.Error != nil {
		return nil, errors.New(response.GetError())
	}
	return response, nil
}

func deliver(path string, content []byte, check bool) error {
	if !check {
		return os.WriteFile(path, content, 0o644)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(old, content) {
		return fmt.Errorf("%s is not what the .proto files give; run `make protos`", path)
	}
	return nil
}
